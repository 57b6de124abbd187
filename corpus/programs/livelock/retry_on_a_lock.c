/* A lock taken by test and exchange, and never given back: the second thread tries again for ever. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int lock;

static void *work(void *argument) {
    for (;;) {
        if (atomic_load(&lock))
            continue;
        int none = 0;
        if (atomic_compare_exchange_strong(&lock, &none, 1))
            return argument;
    }
}

SELVEDGE_TEST(never_unlocked) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
