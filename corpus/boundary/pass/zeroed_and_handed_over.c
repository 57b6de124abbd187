/* A table is allocated with zeros in it and handed over by a store that releases. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct table {
    int used;
    int entries[7];
};

static _Atomic(struct table *) current;

static void *count(void *argument) {
    (void)argument;
    struct table *table = atomic_load_explicit(&current, memory_order_acquire);
    if (table != NULL)
        assert(table->used == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    struct table *table = calloc(1, sizeof *table);
    assert(table != NULL);
    atomic_store_explicit(&current, table, memory_order_release);
    pthread_join(thread, NULL);
    free(table);
    return 0;
}
