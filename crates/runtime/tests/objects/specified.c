// Objects that are held against built-in ones.
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t one, other;
    long head, tail, values[16];
};

static void *create(void) {
    struct object *object = calloc(1, sizeof *object);
    pthread_mutex_init(&object->one, NULL);
    pthread_mutex_init(&object->other, NULL);
    return object;
}

static void destroy(void *object) { free(object); }

// Two locks, taken in one order here and in the other there.
static selvedge_value enq(void *object, const selvedge_value *args) {
    struct object *queue = object;
    pthread_mutex_lock(&queue->one);
    pthread_mutex_lock(&queue->other);
    queue->values[queue->tail++] = args[0];
    pthread_mutex_unlock(&queue->other);
    pthread_mutex_unlock(&queue->one);
    return SELVEDGE_VOID;
}

static selvedge_value deq(void *object, const selvedge_value *args) {
    (void)args;
    struct object *queue = object;
    pthread_mutex_lock(&queue->other);
    pthread_mutex_lock(&queue->one);
    selvedge_value value = queue->head < queue->tail ? queue->values[queue->head++] : SELVEDGE_EMPTY;
    pthread_mutex_unlock(&queue->one);
    pthread_mutex_unlock(&queue->other);
    return value;
}

SELVEDGE_OBJECT(hanging, create, destroy, SELVEDGE_CALL("enq", enq, 1), SELVEDGE_CALL("deq", deq));
SELVEDGE_OPTION(hanging, "specification queue");
SELVEDGE_OPTION(hanging, "test enq(1) | deq()");

static selvedge_value acquire(void *object, const selvedge_value *args) {
    (void)args;
    pthread_mutex_lock(&((struct object *)object)->one);
    return SELVEDGE_VOID;
}

static selvedge_value release(void *object, const selvedge_value *args) {
    (void)args;
    pthread_mutex_unlock(&((struct object *)object)->one);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(lock, create, destroy, SELVEDGE_CALL("acquire", acquire), SELVEDGE_CALL("release", release));
SELVEDGE_OPTION(lock, "specification mutex");
SELVEDGE_OPTION(lock, "test acquire(), release() | acquire(), release()");
SELVEDGE_OPTION(lock, "test acquire() | acquire()");

static selvedge_value read_long(void *object, const selvedge_value *args) {
    (void)args;
    return __atomic_load_n(&((struct object *)object)->head, __ATOMIC_SEQ_CST);
}

static selvedge_value write_long(void *object, const selvedge_value *args) {
    __atomic_store_n(&((struct object *)object)->head, args[0], __ATOMIC_SEQ_CST);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(cell, create, destroy, SELVEDGE_CALL("read", read_long), SELVEDGE_CALL("write", write_long, 1));
SELVEDGE_OPTION(cell, "specification register=0");
SELVEDGE_OPTION(cell, "test write(1), read() | read(), read()");
