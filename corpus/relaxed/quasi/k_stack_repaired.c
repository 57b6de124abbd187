/* The k-stack without that bug. */
#include "../include/k_stack.h"

RELAXED_STACK(k_stack_repaired, struct stack, stack_new, stack_free, stack_push, stack_pop);
