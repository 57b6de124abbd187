/* Two removals may take the same value. */
#define BUG 2
#include "../include/segmented_queue.h"

RELAXED_QUEUE(quasi_queue_b2, struct queue, queue_new, queue_free, queue_enq, queue_deq);
