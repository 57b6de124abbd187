/* Objects whose answers were wrong once. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

static void nothing(void *object) { (void)object; }

/* A counter without a lock, and one with. */
static int counter;
static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;

static void *counter_new(void) {
    counter = 0;
    return &counter;
}

static selvedge_value inc(void *object, const selvedge_value *arguments) {
    int *c = object;
    (void)arguments;
    int v = *c;
    *c = v + 1;
    return v;
}

static selvedge_value inc_locked(void *object, const selvedge_value *arguments) {
    pthread_mutex_lock(&counter_lock);
    selvedge_value v = inc(object, arguments);
    pthread_mutex_unlock(&counter_lock);
    return v;
}

SELVEDGE_OBJECT(racy, counter_new, nothing, SELVEDGE_CALL("inc", inc));
SELVEDGE_OPTION(racy, "races off");
SELVEDGE_OBJECT(raced, counter_new, nothing, SELVEDGE_CALL("inc", inc));
SELVEDGE_OBJECT(locked, counter_new, nothing, SELVEDGE_CALL("inc", inc_locked));
SELVEDGE_OPTION(locked, "races off");

/* A ring for one producer and one consumer. */
struct ring {
    _Atomic unsigned head, tail;
    long slots[4];
};

static void *ring_new(void) { return calloc(1, sizeof(struct ring)); }

static selvedge_value push(void *object, const selvedge_value *arguments) {
    struct ring *ring = object;
    unsigned tail = atomic_load(&ring->tail);
    if (tail - atomic_load(&ring->head) == 4)
        return SELVEDGE_FAIL;
    ring->slots[tail % 4] = arguments[0];
    atomic_store(&ring->tail, tail + 1);
    return SELVEDGE_VOID;
}

static selvedge_value pop(void *object, const selvedge_value *arguments) {
    struct ring *ring = object;
    (void)arguments;
    unsigned head = atomic_load(&ring->head);
    if (head == atomic_load(&ring->tail))
        return SELVEDGE_EMPTY;
    long value = ring->slots[head % 4];
    atomic_store(&ring->head, head + 1);
    return value;
}

SELVEDGE_OBJECT(ring, ring_new, free, SELVEDGE_CALL("push", push, 1), SELVEDGE_CALL("push", push, 2), SELVEDGE_CALL("pop", pop));
SELVEDGE_OPTION(ring, "exclusive push(1), push(2)");
SELVEDGE_OPTION(ring, "exclusive pop()");
SELVEDGE_OBJECT(shared_ring, ring_new, free, SELVEDGE_CALL("push", push, 1), SELVEDGE_CALL("push", push, 2), SELVEDGE_CALL("pop", pop));

/* A channel without a buffer: neither call returns without the other. */
struct channel {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int offered, taken;
    long value;
};

static void *channel_new(void) {
    struct channel *channel = calloc(1, sizeof *channel);
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->changed, NULL);
    return channel;
}

static selvedge_value channel_send(void *object, const selvedge_value *arguments) {
    struct channel *channel = object;
    pthread_mutex_lock(&channel->lock);
    while (channel->offered)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->offered = 1;
    channel->value = arguments[0];
    pthread_cond_broadcast(&channel->changed);
    while (!channel->taken)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->offered = channel->taken = 0;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
    return SELVEDGE_VOID;
}

static selvedge_value channel_recv(void *object, const selvedge_value *arguments) {
    struct channel *channel = object;
    (void)arguments;
    pthread_mutex_lock(&channel->lock);
    while (!channel->offered || channel->taken)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->taken = 1;
    long value = channel->value;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
    return value;
}

SELVEDGE_OBJECT(rendezvous, channel_new, free, SELVEDGE_CALL("send", channel_send, 1), SELVEDGE_CALL("recv", channel_recv));

/* A lock that lets nobody share it while somebody waits to have it alone. */
struct preferring {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int readers, writer, waiting;
};

static void *preferring_new(void) {
    struct preferring *own = calloc(1, sizeof *own);
    pthread_mutex_init(&own->lock, NULL);
    pthread_cond_init(&own->changed, NULL);
    return own;
}

static selvedge_value share(void *object, const selvedge_value *arguments) {
    struct preferring *own = object;
    (void)arguments;
    pthread_mutex_lock(&own->lock);
    while (own->writer || own->waiting)
        pthread_cond_wait(&own->changed, &own->lock);
    own->readers++;
    pthread_mutex_unlock(&own->lock);
    return SELVEDGE_VOID;
}

static selvedge_value lock(void *object, const selvedge_value *arguments) {
    struct preferring *own = object;
    (void)arguments;
    pthread_mutex_lock(&own->lock);
    own->waiting++;
    while (own->writer || own->readers)
        pthread_cond_wait(&own->changed, &own->lock);
    own->waiting--;
    own->writer = 1;
    pthread_mutex_unlock(&own->lock);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(preferring, preferring_new, free, SELVEDGE_CALL("share", share), SELVEDGE_CALL("lock", lock));

/* A test without an object. */
SELVEDGE_TEST(alone) {}
