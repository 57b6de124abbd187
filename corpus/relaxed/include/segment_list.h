/* A list of segments of cells, which grows at its end: what queues of segments share. All segments stay linked from `all`. */
#include "relaxed.h"

#ifndef SEGMENT
#define SEGMENT 3
#endif

struct segment {
    atomic_int cells[SEGMENT];
    atomic_bool deleted;
    _Atomic(struct segment *) next;
};
struct queue {
    _Atomic(struct segment *) first, last;
    struct segment *all;
    atomic_uint turn;
};
static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    queue->all = calloc(1, sizeof *queue->all);
    atomic_init(&queue->first, queue->all);
    atomic_init(&queue->last, queue->all);
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
/* Moves the end on to the segment after `last`, which is made if there is none. */
static void advance_last(struct queue *queue, struct segment *last) {
    struct segment *next = atomic_load(&last->next);
    if (next == NULL) {
        struct segment *fresh = calloc(1, sizeof *fresh);
        if (!CAS(&last->next, (struct segment *)NULL, fresh)) free(fresh);
        next = atomic_load(&last->next);
    }
    CAS(&queue->last, last, next);
}
