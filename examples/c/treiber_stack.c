/* The Treiber stack of figure 1 in "Tractable Refinement Checking for Concurrent Objects" (POPL 2015), with the ABA bug: a
 * node that is freed by one thread and allocated again looks unchanged to another.
 *
 *     selvedge test examples/c/treiber_stack.c
 *
 * finds the history of the paper's figure 2(b): the last pop answers EMPTY though three values were pushed and two popped. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

struct node { _Atomic(struct node *) next; _Atomic int value; };

/* What was freed first is given out first, so that push(3) gets the node of push(1), as in the paper. */
struct stack {
    _Atomic(struct node *) top;
    pthread_mutex_t mutex;
    struct node *unused[8];
    int first, last;
    struct node nodes[3];
};

static struct stack the_stack;

static void *stack_new(void) {
    struct stack *stack = &the_stack;
    atomic_store(&stack->top, NULL);
    pthread_mutex_init(&stack->mutex, NULL);
    stack->first = stack->last = 0;
    for (int i = 0; i < 2; i++) stack->unused[stack->last++] = &stack->nodes[i];
    return stack;
}

static void stack_free(void *object) { (void)object; }

static struct node *allocate(struct stack *stack) {
    pthread_mutex_lock(&stack->mutex);
    struct node *node = stack->first < stack->last ? stack->unused[stack->first++] : &stack->nodes[2];
    pthread_mutex_unlock(&stack->mutex);
    return node;
}

static void release(struct stack *stack, struct node *node) {
    pthread_mutex_lock(&stack->mutex);
    stack->unused[stack->last++] = node;
    pthread_mutex_unlock(&stack->mutex);
}

static selvedge_value push(void *object, const selvedge_value *arguments) {
    struct stack *stack = object;
    struct node *n = allocate(stack);
    struct node *t;
    atomic_store(&n->value, (int)arguments[0]);
    do {
        t = atomic_load(&stack->top);
        atomic_store(&n->next, t);
    } while (!atomic_compare_exchange_strong(&stack->top, &t, n));
    return SELVEDGE_VOID;
}

static selvedge_value pop(void *object, const selvedge_value *arguments) {
    struct stack *stack = object;
    struct node *t, *n;
    (void)arguments;
    do {
        t = atomic_load(&stack->top);
        if (t == NULL) return SELVEDGE_EMPTY;
        n = atomic_load(&t->next);
    } while (!atomic_compare_exchange_strong(&stack->top, &t, n));
    int value = atomic_load(&t->value);
    release(stack, t);
    return value;
}

SELVEDGE_OBJECT(treiber_stack, stack_new, stack_free,
    SELVEDGE_CALL("push", push, 1),
    SELVEDGE_CALL("push", push, 2),
    SELVEDGE_CALL("push", push, 3),
    SELVEDGE_CALL("pop", pop));

/* The program of figure 1. The last pop of its second thread comes when everything else has returned. */
SELVEDGE_OPTION(treiber_stack, "test push(1); pop() | pop(), push(2), push(3); pop()");
