/* Correct objects of many kinds, built on locks and condition variables. */
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>
#include <string.h>

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_rwlock_t readers;
    int count, limit, head;
    selvedge_value items[64];
};

static void *shared_new(void) {
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->changed, NULL);
    pthread_rwlock_init(&shared->readers, NULL);
    return shared;
}

static void *two_new(void) {
    struct shared *shared = shared_new();
    shared->limit = 2;
    return shared;
}

#define LOCKED(name, ...)                                                                                              \
    static selvedge_value name(void *object, const selvedge_value *a) {                                                \
        struct shared *s = object;                                                                                     \
        selvedge_value result = SELVEDGE_VOID;                                                                         \
        (void)a;                                                                                                       \
        pthread_mutex_lock(&s->lock);                                                                                  \
        __VA_ARGS__                                                                                                    \
        pthread_mutex_unlock(&s->lock);                                                                                \
        return result;                                                                                                 \
    }

LOCKED(add_last, s->items[s->head + s->count++] = a[0];)
LOCKED(take_first, result = s->count ? (s->count--, s->items[s->head++]) : SELVEDGE_EMPTY;)
LOCKED(take_last, result = s->count ? s->items[s->head + --s->count] : SELVEDGE_EMPTY;)
LOCKED(size, result = s->count;)
SELVEDGE_OBJECT(queue, shared_new, free, SELVEDGE_METHOD("enq", add_last, 1), SELVEDGE_CALL("deq", take_first), SELVEDGE_CALL("size", size));
SELVEDGE_OBJECT(stack, shared_new, free, SELVEDGE_METHOD("push", add_last, 1), SELVEDGE_CALL("pop", take_last), SELVEDGE_CALL("size", size));

LOCKED(insert, result = !s->items[a[0]]; s->items[a[0]] = 1;)
LOCKED(erase, result = s->items[a[0]]; s->items[a[0]] = 0;)
LOCKED(contains, result = s->items[a[0]];)
SELVEDGE_OBJECT(set, shared_new, free, SELVEDGE_METHOD("insert", insert, 1), SELVEDGE_METHOD("erase", erase, 1), SELVEDGE_METHOD("contains", contains, 1));

LOCKED(put, result = s->items[a[0]]; s->items[a[0]] = a[1];)
LOCKED(swap_keys, selvedge_value one = s->items[1]; s->items[1] = s->items[2]; s->items[2] = one;)
SELVEDGE_OBJECT(map, shared_new, free, SELVEDGE_METHOD("put", put, 2), SELVEDGE_METHOD("get", contains, 1), SELVEDGE_CALL("swap", swap_keys));

LOCKED(increment, s->count++;)
LOCKED(decrement_or_fail, result = s->count ? --s->count : SELVEDGE_FAIL;)
SELVEDGE_OBJECT(counter, shared_new, free, SELVEDGE_CALL("inc", increment), SELVEDGE_CALL("try_dec", decrement_or_fail), SELVEDGE_CALL("get", size));

LOCKED(write_cell, s->items[0] = a[0];)
LOCKED(read_cell, result = s->items[0];)
LOCKED(compare, result = s->items[0] == a[0]; if (result) s->items[0] = a[1];)
SELVEDGE_OBJECT(cell, shared_new, free, SELVEDGE_METHOD("write", write_cell, 1), SELVEDGE_CALL("read", read_cell), SELVEDGE_METHOD("compare_and_set", compare, 2));

LOCKED(release, s->count++; pthread_cond_signal(&s->changed);)
LOCKED(acquire, while (!s->count) pthread_cond_wait(&s->changed, &s->lock); s->count--;)
LOCKED(try_acquire, result = s->count > 0; if (result) s->count--;)
SELVEDGE_OBJECT(semaphore, shared_new, free, SELVEDGE_CALL("release", release), SELVEDGE_CALL("acquire", acquire), SELVEDGE_CALL("try_acquire", try_acquire));

/* A wait overlaps a set and the reset after it: it goes on when the number of sets changes. */
LOCKED(set_event, s->count = 1; s->head++; pthread_cond_broadcast(&s->changed);)
LOCKED(reset_event, s->count = 0;)
LOCKED(wait_event, int before = s->head; while (!s->count && s->head == before) pthread_cond_wait(&s->changed, &s->lock);)
SELVEDGE_OBJECT(event, shared_new, free, SELVEDGE_CALL("set", set_event), SELVEDGE_CALL("reset", reset_event), SELVEDGE_CALL("wait", wait_event), SELVEDGE_CALL("is_set", size));

LOCKED(put_bounded, while (s->count == s->limit) pthread_cond_wait(&s->changed, &s->lock); s->items[s->head + s->count++] = a[0]; pthread_cond_broadcast(&s->changed);)
LOCKED(take_bounded, while (!s->count) pthread_cond_wait(&s->changed, &s->lock); s->count--; result = s->items[s->head++]; pthread_cond_broadcast(&s->changed);)
SELVEDGE_OBJECT(buffer, two_new, free, SELVEDGE_METHOD("put", put_bounded, 1), SELVEDGE_CALL("take", take_bounded));

LOCKED(once, result = s->items[0]; if (!result) s->items[0] = a[0];)
SELVEDGE_OBJECT(once, shared_new, free, SELVEDGE_METHOD("get_or_set", once, 1), SELVEDGE_CALL("get", read_cell));

LOCKED(signal_one, result = s->limit > 0; if (s->limit > 0 && --s->limit == 0) pthread_cond_broadcast(&s->changed);)
LOCKED(await_zero, while (s->limit > 0) pthread_cond_wait(&s->changed, &s->lock);)
SELVEDGE_OBJECT(countdown, two_new, free, SELVEDGE_CALL("signal", signal_one), SELVEDGE_CALL("wait", await_zero));

static selvedge_value sum(void *object, const selvedge_value *arguments) {
    struct shared *shared = object;
    (void)arguments;
    pthread_rwlock_rdlock(&shared->readers);
    selvedge_value sum = shared->items[1] * 10 + shared->items[2];
    pthread_rwlock_unlock(&shared->readers);
    return sum;
}

static selvedge_value bump(void *object, const selvedge_value *arguments) {
    struct shared *shared = object;
    pthread_rwlock_wrlock(&shared->readers);
    shared->items[arguments[0]]++;
    pthread_rwlock_unlock(&shared->readers);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(readers, shared_new, free, SELVEDGE_CALL("sum", sum), SELVEDGE_METHOD("bump", bump, 1));
