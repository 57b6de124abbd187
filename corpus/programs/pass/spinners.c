/* Two threads that spin while a third, which may be preempted, holds what they wait for. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int ready;
static int value;

static void *await(void *argument) {
    while (!atomic_load(&ready)) {
    }
    assert(value == 7);
    return argument;
}

SELVEDGE_TEST(spinners) {
    pthread_t a, b;
    pthread_create(&a, NULL, await, NULL);
    pthread_create(&b, NULL, await, NULL);
    value = 7;
    atomic_store(&ready, 1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
