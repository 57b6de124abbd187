/* Every attempt has a node of its own: nothing may be left out, and nothing is wrong. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) cell;
static int first;

static void *work(void *argument) {
    for (;;) {
        int *seen = atomic_load(&cell);
        int *mine = malloc(sizeof *mine);
        *mine = *seen + 1;
        if (atomic_compare_exchange_strong(&cell, &seen, mine))
            return argument;
        free(mine);
    }
}

SELVEDGE_TEST(each_counts) {
    pthread_t one, other;
    atomic_store(&cell, &first);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(*atomic_load(&cell) == 2);
}
