/* A reader keeps a pointer that the owner frees. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic(int *) shared;

static void *read_it(void *argument) {
    int *pointer = atomic_load(&shared);
    if (pointer)
        assert(__atomic_load_n(pointer, __ATOMIC_RELAXED) == 4);
    return argument;
}

static void *drop_it(void *argument) {
    int *pointer = atomic_exchange(&shared, NULL);
    free(pointer);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(reader) {
    int *pointer = malloc(sizeof *pointer);
    *pointer = 4;
    atomic_store(&shared, pointer);
    both(read_it, drop_it);
}
