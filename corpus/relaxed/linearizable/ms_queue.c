/* The queue of Michael and Scott (1996). */
#include "../include/list_queue.h"

static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        struct node *first = atomic_load(&queue->head), *last = atomic_load(&queue->tail);
        struct node *next = atomic_load(&first->next);
        if (first != atomic_load(&queue->head)) continue;
        if (next == NULL) return false;
        if (first == last) {
            CAS(&queue->tail, last, next);
            continue;
        }
        *value = next->value;
        if (CAS(&queue->head, first, next)) return true;
    }
}
RELAXED_QUEUE(ms_queue, struct queue, queue_new, queue_free, queue_enq, queue_deq);
