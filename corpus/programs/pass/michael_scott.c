/* The queue of Michael and Scott. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};
static struct node nodes[3];
static _Atomic(struct node *) head, tail;
static int results[2];

static void enqueue(struct node *node) {
    for (;;) {
        struct node *last = atomic_load(&tail), *next = atomic_load(&last->next), *none = NULL;
        if (last != atomic_load(&tail))
            continue;
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &none, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
    }
}

static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load(&head), *last = atomic_load(&tail), *next = atomic_load(&first->next);
        if (first != atomic_load(&head))
            continue;
        if (first == last) {
            if (!next)
                return 0;
            atomic_compare_exchange_strong(&tail, &last, next);
        } else {
            int value = next->value;
            if (atomic_compare_exchange_strong(&head, &first, next))
                return value;
        }
    }
}

static void *work(void *argument) {
    int me = (int)(size_t)argument;
    nodes[me].value = me;
    enqueue(&nodes[me]);
    results[me - 1] = dequeue();
    return NULL;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(michael_scott) {
    atomic_init(&head, &nodes[0]);
    atomic_init(&tail, &nodes[0]);
    both(work, work);
    assert(results[0] + results[1] == 3);
}
