/* A queue in an array that hands out places at both ends. A removal whose place has not been filled yet answers "empty",
   though there are values, and the value that comes to that place later is lost. */
#include "../include/relaxed.h"

struct queue {
    atomic_int cells[32];
    atomic_int head, tail;
};
static void *queue_new(void) { return calloc(1, sizeof(struct queue)); }
static void queue_free(void *queue) { free(queue); }

static void queue_enq(struct queue *queue, int value) {
    int place = atomic_fetch_add(&queue->tail, 1);
    atomic_store(&queue->cells[place], value);
}
static bool queue_deq(struct queue *queue, int *value) {
    int place = atomic_load(&queue->head);
    do {
        if (place >= atomic_load(&queue->tail)) return false;
    } while (!atomic_compare_exchange_strong(&queue->head, &place, place + 1));
    *value = atomic_load(&queue->cells[place]);
    return *value != 0;
}
RELAXED_QUEUE(iqueue, struct queue, queue_new, queue_free, queue_enq, queue_deq);
