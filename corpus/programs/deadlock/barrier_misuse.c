/* A barrier for three that only two come to. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_barrier_t barrier;

static void *meet(void *argument) {
    pthread_barrier_wait(&barrier);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(barrier_misuse) {
    pthread_barrier_init(&barrier, NULL, 3);
    both(meet, meet);
}
