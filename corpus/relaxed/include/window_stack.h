/* A stack in an array behind a lock. BUG 1 answers "empty" when the lock is held; 2 takes the value K+1 below the top when
   the stack is deep enough. */
#ifndef BUG
#define BUG 0
#endif
#include "relaxed.h"

enum { K = 2 };
struct stack {
    pthread_mutex_t lock;
    int values[32];
    int count;
};
static void *stack_new(void) {
    struct stack *stack = calloc(1, sizeof *stack);
    pthread_mutex_init(&stack->lock, NULL);
    return stack;
}
static void stack_free(void *object) {
    pthread_mutex_destroy(&((struct stack *)object)->lock);
    free(object);
}

static void stack_push(struct stack *stack, int value) {
    pthread_mutex_lock(&stack->lock);
    stack->values[stack->count++] = value;
    pthread_mutex_unlock(&stack->lock);
}
static bool stack_pop(struct stack *stack, int *value) {
#if BUG == 1
    if (pthread_mutex_trylock(&stack->lock) != 0) return false;
#else
    pthread_mutex_lock(&stack->lock);
#endif
    bool found = stack->count > 0;
    if (found) {
        int at = stack->count - 1;
#if BUG == 2
        if (at > K) at -= K + 1;
#endif
        *value = stack->values[at];
        for (int i = at; i + 1 < stack->count; i++) stack->values[i] = stack->values[i + 1];
        stack->count--;
    }
    pthread_mutex_unlock(&stack->lock);
    return found;
}
