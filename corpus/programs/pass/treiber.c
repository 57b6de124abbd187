/* Treiber's stack: two threads push and pop, and nothing is lost. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) top;

static void push(struct node *node) {
    struct node *seen = atomic_load(&top);
    do
        node->next = seen;
    while (!atomic_compare_exchange_strong(&top, &seen, node));
}

static struct node *pop(void) {
    struct node *seen = atomic_load(&top);
    while (seen && !atomic_compare_exchange_strong(&top, &seen, seen->next)) {
    }
    return seen;
}

static struct node nodes[2];
static int popped[2];

static void *work(void *argument) {
    int me = (int)(size_t)argument - 1;
    nodes[me].value = me + 1;
    push(&nodes[me]);
    struct node *node = pop();
    popped[me] = node ? node->value : 0;
    return NULL;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(treiber) {
    both(work, work);
    assert(popped[0] + popped[1] == 3 && atomic_load(&top) == NULL);
}
