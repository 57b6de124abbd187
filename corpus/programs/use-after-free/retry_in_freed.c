/* The exchange that fails is itself the error: its cell was freed since the load. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int *cell;

static void *work(void *argument) {
    _Atomic int *mine = cell;
    for (;;) {
        int seen = atomic_load(mine);
        if (atomic_compare_exchange_strong(mine, &seen, seen + 1))
            return argument;
    }
}

static void *end(void *argument) {
    _Atomic int *mine = cell;
    atomic_fetch_add(mine, 1);
    free((void *)mine);
    return argument;
}

SELVEDGE_TEST(freed_under_it) {
    pthread_t one, other;
    cell = malloc(sizeof *cell);
    atomic_init(cell, 0);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, end, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
