/* Two owners that both think they are the last. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic(int *) shared;

static void *drop_it(void *argument) {
    int *pointer = atomic_load(&shared);
    if (pointer) {
        atomic_store(&shared, NULL);
        free(pointer);
    }
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(both_drop) {
    atomic_store(&shared, malloc(4));
    both(drop_it, drop_it);
}
