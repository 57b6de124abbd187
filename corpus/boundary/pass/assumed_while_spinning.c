/* The main thread looks again and again at what the other, whose assumption does not hold, would have said: no livelock. */
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>

static atomic_int order, said;

static void *other(void *unused) {
    selvedge_assume(atomic_load(&order) == 1);
    atomic_store(&said, 1);
    return unused;
}

SELVEDGE_TEST(waits) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    atomic_store(&order, 1);
    while (!atomic_load(&said)) sched_yield();
    pthread_join(thread, NULL);
}
