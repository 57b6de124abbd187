/* A loop that stores after a failure, as a backoff that others can see. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int cell, contended;

static void *work(void *argument) {
    for (;;) {
        int seen = atomic_load(&cell);
        if (atomic_compare_exchange_strong(&cell, &seen, seen + 1))
            return argument;
        atomic_store(&contended, 1);
    }
}

SELVEDGE_TEST(failure_is_seen_by_others) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(!atomic_load(&contended));
}
