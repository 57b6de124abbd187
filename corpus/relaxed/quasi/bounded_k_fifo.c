/* The bounded k-FIFO queue of Kirsch, Lippautz and Payer (2013): a ring of segments of K+1 cells; insertions fill any cell of
   the last segment, removals empty any cell of the first. An insertion whose segment has left the ring meanwhile takes its
   value back, unless somebody took it. Head and tail only count up, so they never look the same twice; an insertion into the
   first segment counts the head up by one version, which stops whoever was about to move it on. */
#include "../include/relaxed.h"

enum { K = 2, SEGMENT = K + 1, SEGMENTS = 8, VERSIONS = 1024 };
struct queue {
    atomic_llong cells[SEGMENTS][SEGMENT]; /* 0, or a stamp and a value: stamps make every filling different */
    atomic_int head; /* segment times VERSIONS, plus a version */
    atomic_int tail;
    atomic_int stamp;
};
static void *queue_new(void) { return calloc(1, sizeof(struct queue)); }
static void queue_free(void *queue) { free(queue); }

static bool committed(struct queue *queue, int tail_seen, atomic_llong *cell, long long item) {
    if (atomic_load(cell) != item) return true;
    int seen = atomic_load(&queue->head), head = seen / VERSIONS;
    if (head < tail_seen) return true;
    if (tail_seen < head) return !CAS(cell, item, 0LL);
    /* The segment is the first one: whoever changes the head first decides. */
    if (CAS(&queue->head, seen, seen + 1)) return true;
    return !CAS(cell, item, 0LL);
}
static void queue_enq(struct queue *queue, int value) {
    long long item = ((long long)(atomic_fetch_add(&queue->stamp, 1) + 1) << 32) | value;
    for (;;) {
        int tail = atomic_load(&queue->tail), found = -1;
        atomic_llong *cells = queue->cells[tail % SEGMENTS];
        for (int i = 0; i < SEGMENT && found < 0; i++)
            if (atomic_load(&cells[i]) == 0) found = i;
        if (tail != atomic_load(&queue->tail)) continue;
        if (found < 0) {
            if (tail - atomic_load(&queue->head) / VERSIONS < SEGMENTS - 1) CAS(&queue->tail, tail, tail + 1);
        } else if (CAS(&cells[found], 0LL, item) && committed(queue, tail, &cells[found], item)) {
            return;
        }
    }
}
static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        int seen = atomic_load(&queue->head), head = seen / VERSIONS;
        int tail = atomic_load(&queue->tail), found = -1;
        long long item = 0;
        atomic_llong *cells = queue->cells[head % SEGMENTS];
        for (int i = SEGMENT - 1; i >= 0 && found < 0; i--)
            if ((item = atomic_load(&cells[i])) != 0) found = i;
        if (seen != atomic_load(&queue->head)) continue;
        if (found >= 0) {
            /* Nobody may fill a segment that is being emptied. */
            if (head == tail) CAS(&queue->tail, tail, tail + 1);
            if (CAS(&cells[found], item, 0LL)) {
                *value = (int)(item & 0x7fffffff);
                return true;
            }
        } else if (head == tail) {
            if (tail == atomic_load(&queue->tail)) return false;
        } else {
            CAS(&queue->head, seen, (head + 1) * VERSIONS);
        }
    }
}
RELAXED_QUEUE(bounded_k_fifo, struct queue, queue_new, queue_free, queue_enq, queue_deq);
