/* A stack that is allowed to be out of order and never is. */
#define BUG 0
#include "../include/window_stack.h"

RELAXED_STACK(quasi_stack, struct stack, stack_new, stack_free, stack_push, stack_pop);
