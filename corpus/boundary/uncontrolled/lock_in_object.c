// apart: object
/* A lock in an object that somebody else compiled: it is given back by a store that looks like any other. */
#ifdef APART

void take(int *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            __builtin_ia32_pause();
}

void give(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

#else

#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

void take(int *);
void give(int *);

static int lock, sold;

static void *sell(void *unused) {
    take(&lock);
    sold++;
    give(&lock);
    return unused;
}

SELVEDGE_TEST(sold_is_counted) {
    pthread_t one, other;
    pthread_create(&one, NULL, sell, NULL);
    pthread_create(&other, NULL, sell, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(sold == 2);
}

#endif
