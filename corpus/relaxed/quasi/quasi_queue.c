/* A queue of segments that is as it should be. */
#define BUG 0
#include "../include/segmented_queue.h"

RELAXED_QUEUE(quasi_queue, struct queue, queue_new, queue_free, queue_enq, queue_deq);
