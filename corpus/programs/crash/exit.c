/* exit, once the other thread has run. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static int target;
static _Atomic(int *) shared = &target;

static void *clear(void *argument) {
    atomic_store(&shared, NULL);
    return argument;
}

static void *use(void *argument) {
    if (!atomic_load(&shared))
        exit(3);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(exit_) { both(clear, use); }
