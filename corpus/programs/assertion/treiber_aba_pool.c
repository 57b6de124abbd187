/* ABA on Treiber's stack, with nodes from a pool. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int top, next[4], seen[4];

static int pop(void) {
    int old = atomic_load(&top);
    while (old && !atomic_compare_exchange_strong(&top, &old, atomic_load(&next[old]))) {
    }
    return old;
}

static void push(int node) {
    int old = atomic_load(&top);
    do
        atomic_store(&next[node], old);
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

static void *one(void *argument) {
    seen[pop()]++;
    return argument;
}

static void *other(void *argument) {
    int first = pop(), second = pop();
    if (first)
        push(first);
    seen[second]++;
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(treiber_aba_pool) {
    push(3);
    push(2);
    push(1);
    both(one, other);
    for (int i = 0; i < 4; i++) {
        int node = pop();
        if (!node)
            break;
        seen[node]++;
    }
    for (int node = 1; node <= 3; node++)
        assert(seen[node] == 1);
}
