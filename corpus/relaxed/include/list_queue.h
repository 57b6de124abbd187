/* A linked list that grows at its end, as in the queue of Michael and Scott (1996): an insertion hangs its node behind the
   last one and then moves the end; whoever finds the end behind helps it on. All nodes stay linked from `all`. */
#include "relaxed.h"

struct node {
    int value;
    _Atomic(struct node *) next;
    atomic_bool taken;
};
struct queue {
    _Atomic(struct node *) head, tail;
    struct node *all;
    atomic_uint turn;
};
static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    queue->all = calloc(1, sizeof *queue->all);
    atomic_init(&queue->all->taken, true);
    atomic_init(&queue->head, queue->all);
    atomic_init(&queue->tail, queue->all);
    return queue;
}
static void queue_free(void *object) {
    struct queue *queue = object;
    for (struct node *next, *node = queue->all; node != NULL; node = next) {
        next = atomic_load(&node->next);
        free(node);
    }
    free(queue);
}
static void queue_enq(struct queue *queue, int value) {
    struct node *node = calloc(1, sizeof *node);
    node->value = value;
    for (;;) {
        struct node *last = atomic_load(&queue->tail), *next = atomic_load(&last->next);
        if (next != NULL) {
            CAS(&queue->tail, last, next);
        } else if (CAS(&last->next, (struct node *)NULL, node)) {
            CAS(&queue->tail, last, node);
            return;
        }
    }
}
