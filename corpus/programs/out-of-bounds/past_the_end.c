/* An index that another thread makes one too large. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int length, seen;
static _Atomic int *items;

static void *grow(void *argument) {
    atomic_fetch_add(&length, 1);
    return argument;
}

static void *last(void *argument) {
    atomic_store(&seen, atomic_load(&items[4 * atomic_load(&length) - 1]));
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(past_the_end) {
    items = malloc(4 * sizeof *items);
    for (int at = 0; at < 4; at++)
        atomic_store(&items[at], at);
    atomic_store(&length, 1);
    both(grow, last);
}
