/* Each attempt shows its node to others before the exchange; the exchange may then fail. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int ticket;
static _Atomic int announced[2];

static void *work(void *argument) {
    size_t me = (size_t)argument;
    for (;;) {
        int seen = atomic_load(&ticket);
        atomic_store(&announced[me], seen + 1);
        if (atomic_compare_exchange_strong(&ticket, &seen, seen + 1))
            return NULL;
    }
}

static void *watch(void *argument) {
    int one = atomic_load(&announced[0]), other = atomic_load(&announced[1]);
    assert(one == 0 || one != other);
    return argument;
}

SELVEDGE_TEST(announced_in_vain) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, work, (void *)0);
    pthread_create(&threads[1], NULL, work, (void *)1);
    pthread_create(&threads[2], NULL, watch, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
