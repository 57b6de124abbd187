/* Peterson's algorithm with the turn given before the wish is declared. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int wants[2], turn;
static atomic_int inside;

static void *enter(void *argument) {
    int me = (int)(size_t)argument - 1, other = 1 - me;
    atomic_store(&turn, other);
    atomic_store(&wants[me], 1);
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other) {
    }
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&wants[me], 0);
    return NULL;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(peterson) { both(enter, enter); }
