/* The unbounded k-FIFO queue of Kirsch, Lippautz and Payer (2013): as the bounded one, with a list of segments in place of a
   ring. A segment that is about to leave is marked as deleted; an insertion into it takes its value back. */
#include "../include/relaxed.h"

enum { K = 2, SEGMENT = K + 1 };
struct segment {
    atomic_int cells[SEGMENT];
    atomic_bool deleted;
    _Atomic(struct segment *) next;
};
struct queue {
    _Atomic(struct segment *) head, tail;
    struct segment *all;
};
static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    queue->all = calloc(1, sizeof *queue->all);
    atomic_init(&queue->head, queue->all);
    atomic_init(&queue->tail, queue->all);
    return queue;
}
static void queue_free(void *object) {
    struct queue *queue = object;
    for (struct segment *next, *segment = queue->all; segment != NULL; segment = next) {
        next = atomic_load(&segment->next);
        free(segment);
    }
    free(queue);
}
static void advance_tail(struct queue *queue, struct segment *tail) {
    struct segment *next = atomic_load(&tail->next);
    if (next == NULL) {
        struct segment *fresh = calloc(1, sizeof *fresh);
        if (!CAS(&tail->next, (struct segment *)NULL, fresh)) free(fresh);
        next = atomic_load(&tail->next);
    }
    CAS(&queue->tail, tail, next);
}
static void advance_head(struct queue *queue, struct segment *head) {
    if (head == atomic_load(&queue->tail)) advance_tail(queue, head);
    atomic_store(&head->deleted, true);
    CAS(&queue->head, head, atomic_load(&head->next));
}
static bool committed(struct segment *segment, atomic_int *cell, int value) {
    if (atomic_load(cell) != value || !atomic_load(&segment->deleted)) return true;
    return !CAS(cell, value, 0);
}
static void queue_enq(struct queue *queue, int value) {
    for (;;) {
        struct segment *tail = atomic_load(&queue->tail);
        int found = -1;
        for (int i = 0; i < SEGMENT && found < 0; i++)
            if (atomic_load(&tail->cells[i]) == 0) found = i;
        if (tail != atomic_load(&queue->tail)) continue;
        if (found < 0) advance_tail(queue, tail);
        else if (CAS(&tail->cells[found], 0, value) && committed(tail, &tail->cells[found], value)) return;
    }
}
static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        struct segment *head = atomic_load(&queue->head), *tail = atomic_load(&queue->tail);
        int found = -1;
        for (int i = SEGMENT - 1; i >= 0 && found < 0; i--)
            if ((*value = atomic_load(&head->cells[i])) != 0) found = i;
        if (head != atomic_load(&queue->head)) continue;
        if (found >= 0) {
            /* Nobody may fill a segment that is being emptied. */
            if (head == tail) advance_tail(queue, tail);
            if (CAS(&head->cells[found], *value, 0)) return true;
        } else if (head == tail) {
            if (tail == atomic_load(&queue->tail)) return false;
        } else {
            advance_head(queue, head);
        }
    }
}
RELAXED_QUEUE(unbounded_k_fifo, struct queue, queue_new, queue_free, queue_enq, queue_deq);
