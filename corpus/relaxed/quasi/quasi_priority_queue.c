/* A priority queue whose removals take any of a window of K+1. */
#define BUG 0
#include "../include/window_priority_queue.h"

RELAXED_PRIORITY_QUEUE(quasi_priority_queue, struct heap, heap_new, heap_free, heap_insert, heap_poll);
