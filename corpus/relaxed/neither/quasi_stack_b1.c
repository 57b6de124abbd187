/* A removal that finds the lock held answers "empty". */
#define BUG 1
#include "../include/window_stack.h"

RELAXED_STACK(quasi_stack_b1, struct stack, stack_new, stack_free, stack_push, stack_pop);
