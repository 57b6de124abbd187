/* A try-lock in a loop that only tries again. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int lock;
static int count;

static int try(void) {
    int none = 0;
    return !atomic_load(&lock) && atomic_compare_exchange_strong(&lock, &none, 1);
}

static void *work(void *argument) {
    while (!try())
        ;
    count++;
    atomic_store(&lock, 0);
    return argument;
}

SELVEDGE_TEST(both_counted) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(count == 2);
}
