/* The bounded k-FIFO queue of Kirsch, Lippautz and Payer (2013): a ring of segments of K+1 cells; insertions fill any cell of
   the last segment, removals empty any cell of the first. An insertion whose segment has left the ring meanwhile takes its
   value back, unless somebody took it. Head and tail only count up, so they never look the same twice; an insertion into the
   first segment counts the head up by one version, which stops whoever was about to move it on. */
#include "../include/relaxed.h"

enum { K = 2, SEGMENT = K + 1, SEGMENTS = 8, VERSIONS = 1024 };
struct queue {
    atomic_int cells[SEGMENTS][SEGMENT];
    atomic_int head; /* segment times VERSIONS, plus a version */
    atomic_int tail;
};
static void *queue_new(void) { return calloc(1, sizeof(struct queue)); }
static void queue_free(void *queue) { free(queue); }

static bool committed(struct queue *queue, int tail_seen, atomic_int *cell, int filled) {
    if (atomic_load(cell) != filled) return true;
    int seen = atomic_load(&queue->head), head = seen / VERSIONS;
    if (head < tail_seen) return true;
    if (tail_seen < head) return !cell_change(cell, filled, 0);
    /* The segment is the first one: whoever changes the head first decides. */
    if (CAS(&queue->head, seen, seen + 1)) return true;
    return !cell_change(cell, filled, 0);
}
static void queue_enq(struct queue *queue, int value) {
    for (;;) {
        int tail = atomic_load(&queue->tail);
        atomic_int *cells = queue->cells[tail % SEGMENTS];
        int seen, found = cell_find(cells, SEGMENT, true, &seen);
        if (tail != atomic_load(&queue->tail)) continue;
        if (found < 0) {
            if (tail - atomic_load(&queue->head) / VERSIONS < SEGMENTS - 1) CAS(&queue->tail, tail, tail + 1);
        } else if (cell_change(&cells[found], seen, value)) {
            if (committed(queue, tail, &cells[found], cell_with(seen, value))) return;
        }
    }
}
static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        int version = atomic_load(&queue->head), head = version / VERSIONS;
        int tail = atomic_load(&queue->tail);
        atomic_int *cells = queue->cells[head % SEGMENTS];
        int seen = 0, found = SEGMENT - 1;
        while (found >= 0 && cell_value(seen = atomic_load(&cells[found])) == 0) found--;
        if (version != atomic_load(&queue->head)) continue;
        if (found >= 0) {
            /* Nobody may fill a segment that is being emptied. */
            if (head == tail) CAS(&queue->tail, tail, tail + 1);
            *value = cell_value(seen);
            if (cell_change(&cells[found], seen, 0)) return true;
        } else if (head == tail) {
            if (tail == atomic_load(&queue->tail)) return false;
        } else {
            CAS(&queue->head, version, (head + 1) * VERSIONS);
        }
    }
}
RELAXED_QUEUE(bounded_k_fifo, struct queue, queue_new, queue_free, queue_enq, queue_deq);
