/* The examples of the Line-Up paper (PLDI 2010), in C. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Figure 1: a queue whose TryTake gives up when the lock is not to be had in time. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    selvedge_value items[64];
    int head, tail;
};

static void *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    return queue;
}

static void queue_free(void *object) {
    struct queue *queue = object;
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
    free(queue);
}

static selvedge_value add(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->tail++] = arguments[0];
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
    return SELVEDGE_VOID;
}

static selvedge_value take_locked(struct queue *queue) {
    selvedge_value taken = queue->head < queue->tail ? queue->items[queue->head++] : SELVEDGE_FAIL;
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

static selvedge_value try_take(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    (void)arguments;
    pthread_mutex_lock(&queue->lock);
    return take_locked(queue);
}

static selvedge_value try_take_in_time(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    struct timespec soon;
    (void)arguments;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 1000;
    if (pthread_mutex_timedlock(&queue->lock, &soon) != 0)
        return SELVEDGE_FAIL;
    return take_locked(queue);
}

static selvedge_value take(void *object, const selvedge_value *arguments) {
    struct queue *queue = object;
    (void)arguments;
    pthread_mutex_lock(&queue->lock);
    while (queue->head == queue->tail)
        pthread_cond_wait(&queue->filled, &queue->lock);
    return take_locked(queue);
}

SELVEDGE_OBJECT(figure1, queue_new, queue_free,
    SELVEDGE_CALL("Add", add, 200),
    SELVEDGE_CALL("Add", add, 400),
    SELVEDGE_CALL("TryTake", try_take_in_time));

SELVEDGE_OBJECT(figure1_fixed, queue_new, queue_free,
    SELVEDGE_CALL("Add", add, 200),
    SELVEDGE_CALL("Add", add, 400),
    SELVEDGE_CALL("TryTake", try_take));

/* Figure 7: the same queue with Take, which waits. */
SELVEDGE_OBJECT(figure7, queue_new, queue_free,
    SELVEDGE_CALL("Add", add, 200),
    SELVEDGE_CALL("Add", add, 400),
    SELVEDGE_CALL("Take", take),
    SELVEDGE_CALL("TryTake", try_take));

/* Section 2.2.1: a counter that takes no lock. */
struct counter {
    pthread_mutex_t lock;
    atomic_int count;
};

static void *counter_new(void) {
    struct counter *counter = calloc(1, sizeof *counter);
    pthread_mutex_init(&counter->lock, NULL);
    return counter;
}

static selvedge_value inc_unlocked(void *object, const selvedge_value *arguments) {
    struct counter *counter = object;
    (void)arguments;
    counter->count = counter->count + 1;
    return SELVEDGE_VOID;
}

static selvedge_value get_unlocked(void *object, const selvedge_value *arguments) {
    struct counter *counter = object;
    (void)arguments;
    return counter->count;
}

SELVEDGE_OBJECT(counter1, counter_new, free,
    SELVEDGE_CALL("inc", inc_unlocked),
    SELVEDGE_CALL("get", get_unlocked));

/* Figure 4: a counter whose get keeps the lock. */
static selvedge_value inc(void *object, const selvedge_value *arguments) {
    struct counter *counter = object;
    (void)arguments;
    pthread_mutex_lock(&counter->lock);
    counter->count = counter->count + 1;
    pthread_mutex_unlock(&counter->lock);
    return SELVEDGE_VOID;
}

static selvedge_value get_keeping_the_lock(void *object, const selvedge_value *arguments) {
    struct counter *counter = object;
    (void)arguments;
    pthread_mutex_lock(&counter->lock);
    return counter->count;
}

/* Its serial behaviour says when it may wait: never. */
static selvedge_value inc_serially(void *object, const selvedge_value *arguments) {
    (void)arguments;
    ++*(int *)object;
    return SELVEDGE_VOID;
}

static selvedge_value get_serially(void *object, const selvedge_value *arguments) {
    (void)arguments;
    return *(int *)object;
}

static void *number_new(void) { return calloc(1, sizeof(int)); }

SELVEDGE_OBJECT(counter2, counter_new, free,
    SELVEDGE_CALL("inc", inc),
    SELVEDGE_CALL("get", get_keeping_the_lock));
SELVEDGE_REFERENCE(counter2, number_new, free,
    SELVEDGE_CALL("inc", inc_serially),
    SELVEDGE_CALL("get", get_serially));

/* The same without the specification: what blocks in every serial run is what the code is taken to mean. */
SELVEDGE_OBJECT(counter2_alone, counter_new, free,
    SELVEDGE_CALL("inc", inc),
    SELVEDGE_CALL("get", get_keeping_the_lock));

/* Figure 9: a manual-reset event. The state is 1 when it is set, and has the number of those who wait in its upper bits. Who waits
   goes on when the generation changes; Set changes it when somebody waits. */
struct event {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint state;
    atomic_uint generation;
};

static void *event_new(void) {
    struct event *event = calloc(1, sizeof *event);
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->changed, NULL);
    return event;
}

static selvedge_value set(void *object, const selvedge_value *arguments) {
    struct event *event = object;
    (void)arguments;
    unsigned state = event->state;
    do {
        if (state & 1)
            return SELVEDGE_VOID;
    } while (!atomic_compare_exchange_strong(&event->state, &state, 1));
    if (state >> 1) {
        pthread_mutex_lock(&event->lock);
        event->generation++;
        pthread_cond_broadcast(&event->changed);
        pthread_mutex_unlock(&event->lock);
    }
    return SELVEDGE_VOID;
}

static selvedge_value reset(void *object, const selvedge_value *arguments) {
    struct event *event = object;
    (void)arguments;
    atomic_fetch_and(&event->state, ~1u);
    return SELVEDGE_VOID;
}

static selvedge_value wait_with(struct event *event, int again) {
    unsigned generation;
    for (;;) {
        generation = event->generation;
        unsigned local = event->state;
        if (local & 1)
            return SELVEDGE_VOID;
        /* The error: the new value is computed from the shared state, which is read a second time. */
        unsigned next = (again ? event->state : local) + 2;
        if (atomic_compare_exchange_strong(&event->state, &local, next))
            break;
    }
    pthread_mutex_lock(&event->lock);
    while (event->generation == generation)
        pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
    return SELVEDGE_VOID;
}

static selvedge_value wait_wrong(void *object, const selvedge_value *arguments) {
    (void)arguments;
    return wait_with(object, 1);
}

static selvedge_value wait_right(void *object, const selvedge_value *arguments) {
    (void)arguments;
    return wait_with(object, 0);
}

SELVEDGE_OBJECT(figure9, event_new, free,
    SELVEDGE_CALL("Wait", wait_wrong),
    SELVEDGE_CALL("Set", set),
    SELVEDGE_CALL("Reset", reset));

SELVEDGE_OBJECT(figure9_fixed, event_new, free,
    SELVEDGE_CALL("Wait", wait_right),
    SELVEDGE_CALL("Set", set),
    SELVEDGE_CALL("Reset", reset));
