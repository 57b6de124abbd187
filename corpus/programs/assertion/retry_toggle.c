/* A failure that swaps two places: the attempt after it reads another one. Two failures look like none. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int cells[2];

static void *work(void *argument) {
    for (int at = 0;; at ^= 1) {
        int seen = atomic_load(&cells[at]);
        if (atomic_compare_exchange_strong(&cells[at], &seen, seen + 1))
            return argument;
    }
}

SELVEDGE_TEST(all_in_the_first) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(atomic_load(&cells[1]) == 0);
}
