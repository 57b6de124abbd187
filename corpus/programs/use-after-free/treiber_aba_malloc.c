/* ABA on Treiber's stack: a node is freed, handed out again by malloc, and pushed while another thread still holds its successor. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};
static _Atomic(struct node *) top;
static atomic_int seen[4];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *old = atomic_load(&top);
    do
        atomic_store(&node->next, old);
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

/* The node is given back by whoever popped it: too early. */
static int pop(void) {
    struct node *old = atomic_load(&top);
    while (old) {
        struct node *next = atomic_load(&old->next);
        if (atomic_compare_exchange_strong(&top, &old, next)) {
            int value = old->value;
            free(old);
            return value;
        }
    }
    return 0;
}

static void *one(void *argument) {
    atomic_fetch_add(&seen[pop()], 1);
    return argument;
}

static void *other(void *argument) {
    atomic_fetch_add(&seen[pop()], 1);
    atomic_fetch_add(&seen[pop()], 1);
    push(3);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(treiber_aba_malloc) {
    push(1);
    push(2);
    both(one, other);
    atomic_fetch_add(&seen[pop()], 1);
    for (int value = 1; value <= 3; value++)
        assert(atomic_load(&seen[value]) <= 1);
}
