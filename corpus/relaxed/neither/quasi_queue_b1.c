/* Removals look at the second segment first: a value is overtaken by more than K others. */
#define BUG 1
#include "../include/segmented_queue.h"

RELAXED_QUEUE(quasi_queue_b1, struct queue, queue_new, queue_free, queue_enq, queue_deq);
