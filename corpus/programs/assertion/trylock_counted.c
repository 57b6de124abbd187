/* A loop that tries to lock, and is sure that it need not try often. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int inside;

static void *work(void *argument) {
    for (int tries = 0; pthread_mutex_trylock(&mutex); tries++) {
        assert(tries < 2);
        sched_yield();
    }
    for (int at = 0; at < 4; at++)
        atomic_fetch_add(&inside, 1);
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(counts_to_two) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
