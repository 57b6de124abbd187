/* The unbounded k-FIFO queue of Kirsch, Lippautz and Payer (2013): as the bounded one, with a list of segments in place of a
   ring. A segment that is about to leave is marked as deleted; an insertion into it takes its value back. */
#include "../include/segment_list.h"

static void advance_first(struct queue *queue, struct segment *first) {
    if (first == atomic_load(&queue->last)) advance_last(queue, first);
    atomic_store(&first->deleted, true);
    CAS(&queue->first, first, atomic_load(&first->next));
}
static bool committed(struct segment *segment, atomic_int *cell, int filled) {
    if (atomic_load(cell) != filled || !atomic_load(&segment->deleted)) return true;
    return !cell_change(cell, filled, 0);
}
static void queue_enq(struct queue *queue, int value) {
    for (;;) {
        struct segment *last = atomic_load(&queue->last);
        int seen, found = cell_find(last->cells, SEGMENT, true, &seen);
        if (last != atomic_load(&queue->last)) continue;
        if (found < 0) advance_last(queue, last);
        else if (cell_change(&last->cells[found], seen, value))
            if (committed(last, &last->cells[found], cell_with(seen, value))) return;
    }
}
static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        struct segment *first = atomic_load(&queue->first), *last = atomic_load(&queue->last);
        int seen = 0, found = SEGMENT - 1;
        while (found >= 0 && cell_value(seen = atomic_load(&first->cells[found])) == 0) found--;
        if (first != atomic_load(&queue->first)) continue;
        if (found >= 0) {
            /* Nobody may fill a segment that is being emptied. */
            if (first == last) advance_last(queue, last);
            *value = cell_value(seen);
            if (cell_change(&first->cells[found], seen, 0)) return true;
        } else if (first == last) {
            if (last == atomic_load(&queue->last)) return false;
        } else {
            advance_first(queue, first);
        }
    }
}
RELAXED_QUEUE(unbounded_k_fifo, struct queue, queue_new, queue_free, queue_enq, queue_deq);
