// Two halves that belong together, each of them atomic.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static _Atomic int low, high;

static void *set(void *unused) {
    low = 1;
    high = 1;
    return unused;
}

SELVEDGE_TEST(torn_pair) {
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    int first = low, second = high;
    pthread_join(other, NULL);
    assert(first == second);
}
