/* Two threads add one to a counter by a load and a store. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int counter;

static void *add(void *argument) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(lost_update) {
    both(add, add);
    assert(atomic_load(&counter) == 2);
}
