/* The queue of Herlihy and Wing (1990): insertions take a place and fill it later; a removal looks through all places until
   it finds a value, and waits while there is none. */
#include "../include/relaxed.h"

struct queue {
    atomic_int cells[32];
    atomic_int back;
};
static void *queue_new(void) { return calloc(1, sizeof(struct queue)); }
static void queue_free(void *queue) { free(queue); }

static void queue_enq(struct queue *queue, int value) {
    int place = atomic_fetch_add(&queue->back, 1);
    atomic_store(&queue->cells[place], value);
}
static bool queue_deq(struct queue *queue, int *value) {
    for (;;) {
        int back = atomic_load(&queue->back);
        for (int i = 0; i < back; i++) {
            *value = atomic_exchange(&queue->cells[i], 0);
            if (*value != 0) return true;
        }
    }
}

static selvedge_value enq(void *object, const selvedge_value *args) {
    queue_enq(object, (int)args[0]);
    return SELVEDGE_VOID;
}
static selvedge_value deq(void *object, const selvedge_value *args) {
    int value;
    (void)args;
    queue_deq(object, &value);
    return value;
}
/* Its serial runs wait on an empty queue too, so it is its own golden model. */
SELVEDGE_OBJECT(herlihy_wing_queue, queue_new, queue_free, RELAXED_PUTS("enq", enq), SELVEDGE_CALL("deq", deq));
