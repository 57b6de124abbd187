/* The queue of Michael and Scott with everything in one function, so that variables that failed exchanges wrote stay where they are. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};
static struct node nodes[3];
static _Atomic(struct node *) head, tail;
static int taken[2];

static void enqueue(struct node *node, int value) {
    node->value = value;
    while (1) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (last != atomic_load_explicit(&tail, memory_order_acquire))
            continue;
        if (!next) {
            struct node *none = 0;
            if (atomic_compare_exchange_strong(&last->next, &none, node)) {
                atomic_compare_exchange_strong(&tail, &last, node);
                return;
            }
        } else
            atomic_compare_exchange_strong(&tail, &last, next);
    }
}

static int dequeue(void) {
    while (1) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
        if (first != atomic_load_explicit(&head, memory_order_acquire))
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
    int me = (int)(long)argument;
    enqueue(&nodes[me + 1], me + 1);
    taken[me] = dequeue();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    atomic_init(&head, &nodes[0]);
    atomic_init(&tail, &nodes[0]);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(taken[0] + taken[1] == 3);
    return 0;
}
