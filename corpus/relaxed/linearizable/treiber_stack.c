/* Treiber's stack (1986). Nodes are not used again while the stack lives, so a node that comes back is the same. */
#include "../include/relaxed.h"

struct node {
    int value;
    struct node *below;
    struct node *older;
};
struct stack {
    _Atomic(struct node *) top;
    _Atomic(struct node *) popped;
};
static void *stack_new(void) { return calloc(1, sizeof(struct stack)); }
static void stack_free(void *object) {
    struct stack *stack = object;
    for (struct node *next, *node = atomic_load(&stack->top); node != NULL; node = next) {
        next = node->below;
        free(node);
    }
    for (struct node *next, *node = atomic_load(&stack->popped); node != NULL; node = next) {
        next = node->older;
        free(node);
    }
    free(stack);
}
static void stack_push(struct stack *stack, int value) {
    struct node *node = calloc(1, sizeof *node), *top = atomic_load(&stack->top);
    node->value = value;
    do node->below = top;
    while (!atomic_compare_exchange_strong(&stack->top, &top, node));
}
static bool stack_pop(struct stack *stack, int *value) {
    struct node *top = atomic_load(&stack->top);
    do {
        if (top == NULL) return false;
    } while (!atomic_compare_exchange_strong(&stack->top, &top, top->below));
    *value = top->value;
    struct node *older = atomic_load(&stack->popped);
    do top->older = older;
    while (!atomic_compare_exchange_strong(&stack->popped, &older, top));
    return true;
}
RELAXED_STACK(treiber_stack, struct stack, stack_new, stack_free, stack_push, stack_pop);
