/* Treiber's stack, freeing what it pops: selvedge test examples/c/treiber.c
   While a thread sleeps between reading the top and taking it, another pops that node and frees it. The sleeper then reads freed memory; and if the
   same address comes back as a new node, its compare-and-swap succeeds although the stack has changed (ABA). */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *_Atomic next;
    long value;
};

static struct node *_Atomic top;

static void push(long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *seen = atomic_load(&top);
    do
        atomic_store(&node->next, seen);
    while (!atomic_compare_exchange_weak(&top, &seen, node));
}

static long pop(void) {
    struct node *seen = atomic_load(&top);
    do
        if (seen == NULL)
            return 0;
    while (!atomic_compare_exchange_weak(&top, &seen, atomic_load(&seen->next)));
    long value = seen->value;
    free(seen);
    return value;
}

static void *pop_one(void *nothing) {
    pop();
    return nothing;
}

SELVEDGE_TEST(two_threads_pop) {
    push(1);
    push(2);
    pthread_t thread;
    pthread_create(&thread, NULL, pop_one, NULL);
    pop();
    pthread_join(thread, NULL);
    assert(atomic_load(&top) == NULL);
}
