// The divisor may not be set yet.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <selvedge.h>

static atomic_int count, sum = 6;

static void *set(void *unused) {
    count = 3;
    return unused;
}

SELVEDGE_TEST(division) {
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    printf("%d\n", sum / count);
    pthread_join(other, NULL);
}
