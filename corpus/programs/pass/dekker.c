/* Dekker's algorithm. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int wants[2], turn;
static int inside;

static void *enter(void *argument) {
    int me = (int)(size_t)argument - 1, other = 1 - me;
    atomic_store(&wants[me], 1);
    while (atomic_load(&wants[other])) {
        if (atomic_load(&turn) != me) {
            atomic_store(&wants[me], 0);
            while (atomic_load(&turn) != me) {
            }
            atomic_store(&wants[me], 1);
        }
    }
    assert(inside == 0);
    inside = 1;
    inside = 0;
    atomic_store(&turn, other);
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

SELVEDGE_TEST(dekker) { both(enter, enter); }
