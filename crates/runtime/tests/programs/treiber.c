/* Treiber's stack: each thread pushes one node and pops one. Only heads are atomic. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef THREADS
#define THREADS 2
#endif

struct node {
    int value;
    struct node *next;
};
static struct node nodes[THREADS];
static _Atomic(struct node *) head;
static int popped[THREADS];

static void push(struct node *node, int value) {
    node->value = value;
    for (;;) {
        struct node *seen = atomic_load(&head);
        node->next = seen;
        if (atomic_compare_exchange_strong(&head, &seen, node))
            return;
    }
}

static int pop(void) {
    for (;;) {
        struct node *seen = atomic_load(&head);
        if (!seen)
            return 0;
        struct node *next = seen->next;
        if (atomic_compare_exchange_strong(&head, &seen, next))
            return seen->value;
    }
}

static void *work(void *argument) {
    size_t me = (size_t)argument;
    push(&nodes[me], (int)me + 1);
    popped[me] = pop();
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int sum = 0;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        sum += popped[i];
    assert(sum == THREADS * (THREADS + 1) / 2);
    return 0;
}
