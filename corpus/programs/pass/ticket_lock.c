/* A ticket lock for two threads, with a yield in the loop. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <sched.h>
static atomic_uint next, serving;
static int counter;

static void *add(void *argument) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine)
        sched_yield();
    counter++;
    atomic_fetch_add(&serving, 1);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(ticket_lock) {
    both(add, add);
    assert(counter == 2);
}
