/* The k-stack of Henzinger, Kirsch, Payer, Sezgin and Sokolova (2013): a stack of segments of K+1 cells; pushes fill any cell
   of the top segment, pops empty any of it. A pop that finds the top segment empty marks it as deleted, looks again, and
   takes it off or unmarks it. A push must see that its segment was not taken off under it.

   With COMMIT_BUG, committed() reads the mark twice, as in the program of Round-Up, section VI-D: marked at the first look
   and unmarked at the second, it says "not committed" though the value is in, and the value is pushed a second time. The
   mark is atomic, so no compiler joins the two reads. */
#include "relaxed.h"

enum { K = 2, SEGMENT = K + 1 };
struct segment {
    atomic_int cells[SEGMENT];
    atomic_int deleted;
    struct segment *below;
    struct segment *older;
};
struct stack {
    _Atomic(struct segment *) top;
    _Atomic(struct segment *) all;
};
static struct segment *segment_new(struct stack *stack, struct segment *below) {
    struct segment *segment = calloc(1, sizeof *segment), *older = atomic_load(&stack->all);
    segment->below = below;
    do segment->older = older;
    while (!atomic_compare_exchange_strong(&stack->all, &older, segment));
    return segment;
}
static void *stack_new(void) {
    struct stack *stack = calloc(1, sizeof *stack);
    atomic_init(&stack->top, segment_new(stack, NULL));
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
static bool is_empty(struct segment *segment) {
    for (int i = 0; i < SEGMENT; i++)
        if (atomic_load(&segment->cells[i]) != 0) return false;
    return true;
}

static bool committed(struct stack *stack, struct segment *segment, atomic_int *cell, int value) {
#ifdef COMMIT_BUG
    (void)stack;
    if (atomic_load(&segment->deleted) == 0) return true;
    else if (atomic_load(&segment->deleted) == 1) return !CAS(cell, value, 0);
    return false;
#else
    if (atomic_load(cell) != value) return true;
    if (atomic_load(&segment->deleted) == 0 && segment == atomic_load(&stack->top)) return true;
    /* The segment may be on its way out: the value goes back, unless somebody took it. */
    return !CAS(cell, value, 0);
#endif
}
static void try_remove_segment(struct stack *stack, struct segment *segment) {
    atomic_store(&segment->deleted, 1);
    if (segment->below != NULL && is_empty(segment)) {
        if (CAS(&stack->top, segment, segment->below)) return;
    }
    atomic_store(&segment->deleted, 0);
}

static void stack_push(struct stack *stack, int value) {
    for (;;) {
        struct segment *top = atomic_load(&stack->top);
        int found = -1;
        for (int i = 0; i < SEGMENT && found < 0; i++)
            if (atomic_load(&top->cells[i]) == 0) found = i;
        if (top != atomic_load(&stack->top)) continue;
        if (found < 0) {
            struct segment *fresh = segment_new(stack, top);
            CAS(&stack->top, top, fresh);
        } else if (CAS(&top->cells[found], 0, value) && committed(stack, top, &top->cells[found], value)) {
            return;
        }
    }
}
static bool stack_pop(struct stack *stack, int *value) {
    for (;;) {
        struct segment *top = atomic_load(&stack->top);
        int found = -1;
        for (int i = 0; i < SEGMENT && found < 0; i++)
            if ((*value = atomic_load(&top->cells[i])) != 0) found = i;
        if (top != atomic_load(&stack->top)) continue;
        if (found >= 0) {
            if (CAS(&top->cells[found], *value, 0)) return true;
        } else if (top->below == NULL) {
            try_remove_segment(stack, top);
            if (is_empty(top) && top == atomic_load(&stack->top)) return false;
        } else {
            try_remove_segment(stack, top);
        }
    }
}
