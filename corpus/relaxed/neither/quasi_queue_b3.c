/* A removal says "empty" when the first segment is used up, though the second has values. */
#define BUG 3
#include "../include/segmented_queue.h"

RELAXED_QUEUE(quasi_queue_b3, struct queue, queue_new, queue_free, queue_enq, queue_deq);
