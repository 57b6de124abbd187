/* The random-dequeue queue of Afek, Korland and Yanovsky (2010): a removal takes one of the first K+1 nodes, those that were
   taken counted too, so the first of them is passed over at most K times. The head moves over taken nodes only. */
#include "../include/list_queue.h"

enum { K = 2 };

static bool queue_deq(struct queue *queue, int *value) {
    unsigned turn = atomic_fetch_add(&queue->turn, 1) + 1;
    for (;;) {
        struct node *window[K + 1];
        int count = 0;
        struct node *first = atomic_load(&queue->head);
        /* The head's own node is taken already. */
        for (struct node *next; (next = atomic_load(&first->next)) != NULL && atomic_load(&next->taken);) {
            if (first == atomic_load(&queue->tail)) CAS(&queue->tail, first, next);
            CAS(&queue->head, first, next);
            first = atomic_load(&queue->head);
        }
        struct node *node = atomic_load(&first->next);
        if (node == NULL) return false;
        for (; node != NULL && count <= K; node = atomic_load(&node->next)) window[count++] = node;
        for (int i = 0; i < count; i++) {
            node = window[(turn + (unsigned)i) % (unsigned)count];
            if (!atomic_load(&node->taken) && CAS(&node->taken, (_Bool)0, true)) {
                *value = node->value;
                return true;
            }
        }
    }
}
RELAXED_QUEUE(rd_queue, struct queue, queue_new, queue_free, queue_enq, queue_deq);
