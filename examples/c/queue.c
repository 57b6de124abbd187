/* A queue without a specification: selvedge test examples/c/queue.c
   Whether it is empty is asked before the lock is taken, so somebody else may be faster: a value comes out twice, or from nowhere. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <selvedge.h>

struct queue {
    pthread_mutex_t lock;
    atomic_int head, tail;
    long items[64];
};

static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    return queue;
}

static selvedge_value enq(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->tail++] = arguments[0];
    pthread_mutex_unlock(&queue->lock);
    return SELVEDGE_VOID;
}

static selvedge_value deq(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    (void)arguments;
    if (queue->head == queue->tail)
        return SELVEDGE_EMPTY;
    pthread_mutex_lock(&queue->lock);
    selvedge_value value = queue->items[queue->head++];
    pthread_mutex_unlock(&queue->lock);
    return value;
}

SELVEDGE_OBJECT(queue, queue_new, free,
    SELVEDGE_CALL("enq", enq, 1),
    SELVEDGE_CALL("enq", enq, 2),
    SELVEDGE_CALL("deq", deq));
