/* A queue of segments of K+1 cells (after Afek, Korland and Yanovsky): a removal takes any value of the first segment, so no
   value is overtaken by, or overtakes, more than K others. A cell goes from 0 to a value to TAKEN and never back, so two
   equal looks at a segment are a look at one moment. BUG 1 looks at the second segment first; 2 marks a cell as taken
   without asking whether somebody did, and all removals begin at the same cell; 3 says "empty" when the first segment has nothing left. */
#ifndef BUG
#define BUG 0
#endif
#include "segment_list.h"

enum { TAKEN = -1 };

static void queue_enq(struct queue *queue, int value) {
    for (;;) {
        struct segment *last = atomic_load(&queue->last);
        for (int i = 0; i < SEGMENT; i++)
            if (atomic_load(&last->cells[i]) == 0 && CAS(&last->cells[i], 0, value)) return;
        advance_last(queue, last);
    }
}

/* Takes any value of the segment. */
static bool take(struct queue *queue, struct segment *segment, int *value) {
#if BUG == 2
    (void)queue;
    unsigned start = 1;
#else
    unsigned start = atomic_fetch_add(&queue->turn, 1) + 1;
#endif
    for (unsigned i = 0; i < SEGMENT; i++) {
        atomic_int *cell = &segment->cells[(start + i) % SEGMENT];
        *value = atomic_load(cell);
        if (*value <= 0) continue;
#if BUG == 2
        atomic_store(cell, TAKEN);
        return true;
#else
        if (CAS(cell, *value, TAKEN)) return true;
#endif
    }
    return false;
}

/* Looks twice. 0: something changed or is inside; 1: all cells were used and are taken; 2: nothing is inside. */
static int look(struct segment *segment) {
    int seen[SEGMENT], used = 0;
    for (int i = 0; i < SEGMENT; i++) {
        seen[i] = atomic_load(&segment->cells[i]);
        if (seen[i] > 0) return 0;
        used += seen[i] == TAKEN;
    }
    for (int i = 0; i < SEGMENT; i++)
        if (atomic_load(&segment->cells[i]) != seen[i]) return 0;
    return used == SEGMENT ? 1 : 2;
}

static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        struct segment *first = atomic_load(&queue->first);
#if BUG == 1
        struct segment *second = atomic_load(&first->next);
        if (second != NULL && take(queue, second, value)) return true;
#endif
        if (take(queue, first, value)) return true;
#if BUG == 3
        return false;
#endif
        switch (look(first)) {
        case 1: {
            struct segment *next = atomic_load(&first->next);
            if (next == NULL) return false;
            CAS(&queue->first, first, next);
            break;
        }
        case 2: return false;
        default: break;
        }
    }
}
