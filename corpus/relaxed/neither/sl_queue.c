/* A singly linked list for one thread, used by several: insertions get lost, and values come out twice. */
#include "../include/relaxed.h"

struct node {
    int value;
    _Atomic(struct node *) next, older;
};
struct queue {
    _Atomic(struct node *) head, tail, all;
};
static struct node *node_new(struct queue *queue, int value) {
    struct node *node = calloc(1, sizeof *node), *older = atomic_load(&queue->all);
    node->value = value;
    do atomic_store(&node->older, older);
    while (!atomic_compare_exchange_strong(&queue->all, &older, node));
    return node;
}
static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    struct node *first = node_new(queue, 0);
    atomic_init(&queue->head, first);
    atomic_init(&queue->tail, first);
    return queue;
}
static void queue_free(void *object) {
    struct queue *queue = object;
    for (struct node *older, *node = atomic_load(&queue->all); node != NULL; node = older) {
        older = atomic_load(&node->older);
        free(node);
    }
    free(queue);
}
static void queue_enq(struct queue *queue, int value) {
    struct node *node = node_new(queue, value), *last = atomic_load(&queue->tail);
    atomic_store(&last->next, node);
    atomic_store(&queue->tail, node);
}
static bool queue_deq(struct queue *queue, int *value) {
    struct node *first = atomic_load(&queue->head), *next = atomic_load(&first->next);
    if (next == NULL) return false;
    *value = next->value;
    atomic_store(&queue->head, next);
    return true;
}
RELAXED_QUEUE(sl_queue, struct queue, queue_new, queue_free, queue_enq, queue_deq);
