/* ABA through malloc, as a wrong result: one thread frees the box, another gets the same memory for a new one, and a third takes the new box for
   the old one. No freed memory is touched. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct box {
    int id;
};
static _Atomic(struct box *) cell;
static struct box *first;

static struct box *make(int id) {
    struct box *box = malloc(sizeof *box);
    box->id = id;
    return box;
}

static void *drop(void *argument) {
    free(atomic_exchange(&cell, NULL));
    return argument;
}

static void *put(void *argument) {
    struct box *none = NULL, *box = make(2);
    if (!atomic_compare_exchange_strong(&cell, &none, box))
        free(box);
    return argument;
}

/* That the pointer is the same does not mean that the box is. */
static void *take(void *argument) {
    struct box *box = first;
    if (atomic_compare_exchange_strong(&cell, &box, NULL))
        assert(first->id == 1);
    return argument;
}

SELVEDGE_TEST(aba_malloc) {
    first = make(1);
    atomic_store(&cell, first);
    void *(*bodies[3])(void *) = {drop, put, take};
    pthread_t threads[3];
    for (int at = 0; at < 3; at++)
        pthread_create(&threads[at], NULL, bodies[at], NULL);
    for (int at = 0; at < 3; at++)
        pthread_join(threads[at], NULL);
}
