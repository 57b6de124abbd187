/* A removal takes the last value, however far that is from the first. */
#define BUG 2
#include "../include/window_priority_queue.h"

RELAXED_PRIORITY_QUEUE(quasi_priority_queue_b2, struct heap, heap_new, heap_free, heap_insert, heap_poll);
