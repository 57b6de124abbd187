/* A lock that spins without any yield. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int locked;
static int counter;

static void *add(void *argument) {
    while (atomic_exchange(&locked, 1)) {
    }
    counter++;
    atomic_store(&locked, 0);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(spin_lock) {
    both(add, add);
    assert(counter == 2);
}
