/* The k-stack of Henzinger, Kirsch, Payer, Sezgin and Sokolova (2013): a stack of segments. Pushes fill any cell of the top
   segment, or put a new one with their value on top; pops empty any cell of the top segment. A pop that finds the top segment
   empty marks it as deleted, looks again, and takes it off or unmarks it. A push must see that its segment was not taken off
   under it: when the segment is marked, it counts the top up, which stops whoever was about to take the segment off, or it
   takes its value back. Cells and the top count their changes, so two equal looks at a segment are a look at one moment.

   With COMMIT_BUG, committed() reads the mark twice, as in the program of Round-Up, section VI-D: marked at the first look
   and unmarked at the second, it says "not committed" though the value is in, and the value is pushed a second time. The
   mark is atomic, so no compiler joins the two reads. Without it the mark is read once, and counts those who want to take the
   segment off: one that gives up does not unmark it for another. */
#include "relaxed.h"

#include <stdint.h>

enum { SEGMENT = 2, COUNTS = 16 };
struct segment {
    atomic_int cells[SEGMENT];
    atomic_int deleted;
    struct segment *below;
    struct segment *older;
};
struct stack {
    _Atomic(uintptr_t) top; /* an address, and in the bits that it leaves free how often it changed */
    _Atomic(struct segment *) all;
};
static struct segment *segment_at(uintptr_t top) { return (struct segment *)(top & ~(uintptr_t)(COUNTS - 1)); }
/* Puts a segment where that top was. */
static bool change_top(struct stack *stack, uintptr_t top, struct segment *segment) {
    return CAS(&stack->top, top, (uintptr_t)segment | (top + 1) % COUNTS);
}
static struct segment *segment_new(struct stack *stack, struct segment *below, int value) {
    struct segment *segment = calloc(1, sizeof *segment), *older = atomic_load(&stack->all);
    segment->below = below;
    atomic_init(&segment->cells[0], value);
    do segment->older = older;
    while (!atomic_compare_exchange_strong(&stack->all, &older, segment));
    return segment;
}
static void *stack_new(void) {
    struct stack *stack = calloc(1, sizeof *stack);
    atomic_init(&stack->top, (uintptr_t)segment_new(stack, NULL, 0));
    return stack;
}
static void stack_free(void *object) {
    struct stack *stack = object;
    for (struct segment *older, *segment = atomic_load(&stack->all); segment != NULL; segment = older) {
        older = segment->older;
        free(segment);
    }
    free(stack);
}
/* Whether it was empty at one moment. */
static bool is_empty(struct segment *segment) {
    int seen[SEGMENT];
    for (int i = 0; i < SEGMENT; i++)
        if (cell_value(seen[i] = atomic_load(&segment->cells[i])) != 0) return false;
    for (int i = 0; i < SEGMENT; i++)
        if (atomic_load(&segment->cells[i]) != seen[i]) return false;
    return true;
}

/* The segment may be on its way out: it stays, or the value goes back, unless somebody took it. */
static bool commit_marked(struct stack *stack, uintptr_t top, atomic_int *cell, int filled) {
    if (change_top(stack, top, segment_at(top))) return true;
    return !cell_change(cell, filled, 0);
}
static bool committed(struct stack *stack, uintptr_t top, atomic_int *cell, int filled) {
    struct segment *segment = segment_at(top);
    if (atomic_load(cell) != filled) return true;
#ifdef COMMIT_BUG
    if (atomic_load(&segment->deleted) == 0)
        return true;
    else if (atomic_load(&segment->deleted) == 1)
        return commit_marked(stack, top, cell, filled);
    return false;
#else
    if (atomic_load(&segment->deleted) == 0) return true;
    return commit_marked(stack, top, cell, filled);
#endif
}
static void try_remove_segment(struct stack *stack, uintptr_t top) {
    struct segment *segment = segment_at(top);
#ifdef COMMIT_BUG
    atomic_store(&segment->deleted, 1);
#else
    atomic_fetch_add(&segment->deleted, 1);
#endif
    if (is_empty(segment) && change_top(stack, top, segment->below)) return;
#ifdef COMMIT_BUG
    atomic_store(&segment->deleted, 0);
#else
    atomic_fetch_sub(&segment->deleted, 1);
#endif
}

static void stack_push(struct stack *stack, int value) {
    for (;;) {
        uintptr_t top = atomic_load(&stack->top);
        struct segment *segment = segment_at(top);
        int seen, found = cell_find(segment->cells, SEGMENT, true, &seen);
        if (top != atomic_load(&stack->top)) continue;
        if (found < 0) {
            if (change_top(stack, top, segment_new(stack, segment, value))) return;
        } else if (cell_change(&segment->cells[found], seen, value)) {
            if (committed(stack, top, &segment->cells[found], cell_with(seen, value))) return;
        }
    }
}
static bool stack_pop(struct stack *stack, int *value) {
    for (;;) {
        uintptr_t top = atomic_load(&stack->top);
        struct segment *segment = segment_at(top);
        int seen, found = cell_find(segment->cells, SEGMENT, false, &seen);
        if (top != atomic_load(&stack->top)) continue;
        if (found >= 0) {
            *value = cell_value(seen);
            if (cell_change(&segment->cells[found], seen, 0)) return true;
        } else if (segment->below != NULL) {
            try_remove_segment(stack, top);
        } else if (is_empty(segment) && top == atomic_load(&stack->top)) {
            return false;
        }
    }
}
