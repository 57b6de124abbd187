/* The k-stack with the published bug: the mark of the segment is read twice. */
#define COMMIT_BUG
#include "../include/k_stack.h"

RELAXED_STACK(k_stack, struct stack, stack_new, stack_free, stack_push, stack_pop);
