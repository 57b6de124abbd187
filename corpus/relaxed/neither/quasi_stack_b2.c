/* A removal takes a value more than K below the top. */
#define BUG 2
#include "../include/window_stack.h"

RELAXED_STACK(quasi_stack_b2, struct stack, stack_new, stack_free, stack_push, stack_pop);
