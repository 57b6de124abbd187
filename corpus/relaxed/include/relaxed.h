/* What the programs here share: how a collection of ints becomes an object to be tested, and what it should do serially.
   Values are above 0. Nothing is freed before the object is: memory is never used again while a thread may look at it. */
#ifndef RELAXED_H
#define RELAXED_H

#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* A compare-and-set that only says whether it succeeded. */
#define CAS(place, old, new)                                                                                           \
    ({                                                                                                                 \
        __typeof__(old) expected_ = (old);                                                                             \
        atomic_compare_exchange_strong((place), &expected_, (new));                                                    \
    })

/* Cells that count their changes, so that none ever looks the same twice: the count times VALUES, plus the value or 0. The last
   digit is the value, which makes reports easy to read. */
enum { VALUES = 10 };
static inline int cell_value(int seen) { return seen % VALUES; }
static inline int cell_with(int seen, int value) { return (seen / VALUES + 1) * VALUES + value; }
static inline bool cell_change(atomic_int *cell, int seen, int value) { return CAS(cell, seen, cell_with(seen, value)); }
/* A look at cells from the first on for one that is empty or is not; -1 when there is none. What it held is in `seen`. */
static inline int cell_find(atomic_int *cells, int count, bool empty, int *seen) {
    for (int i = 0; i < count; i++)
        if ((cell_value(*seen = atomic_load(&cells[i])) == 0) == empty) return i;
    return -1;
}

/* The golden model: an array, and which value leaves first. */
enum { GOLDEN_MAX = 64 };
struct golden {
    int values[GOLDEN_MAX];
    int count;
};
static inline void *golden_new(void) { return calloc(1, sizeof(struct golden)); }
static inline void golden_free(void *object) { free(object); }
static inline void golden_put(struct golden *golden, int value) { golden->values[golden->count++] = value; }
static inline selvedge_value golden_take(struct golden *golden, int at) {
    if (golden->count == 0) return SELVEDGE_EMPTY;
    int value = golden->values[at];
    for (int i = at; i + 1 < golden->count; i++) golden->values[i] = golden->values[i + 1];
    golden->count--;
    return value;
}
static inline selvedge_value golden_insert(void *object, const selvedge_value *args) {
    golden_put(object, (int)args[0]);
    return SELVEDGE_VOID;
}
static inline selvedge_value golden_first(void *object, const selvedge_value *args) {
    (void)args;
    return golden_take(object, 0);
}
static inline selvedge_value golden_last(void *object, const selvedge_value *args) {
    (void)args;
    struct golden *golden = object;
    return golden_take(golden, golden->count - 1);
}
static inline selvedge_value golden_least(void *object, const selvedge_value *args) {
    (void)args;
    struct golden *golden = object;
    int least = 0;
    for (int i = 1; i < golden->count; i++)
        if (golden->values[i] < golden->values[least]) least = i;
    return golden_take(golden, least);
}

/* put is void (T *, int), take is bool (T *, int *): false when there is nothing. */
#define RELAXED_OBJECT(name, type, create, destroy, put_name, put, take_name, take, golden)                            \
    static selvedge_value name##_put(void *object, const selvedge_value *args) {                                       \
        put((type *)object, (int)args[0]);                                                                             \
        return SELVEDGE_VOID;                                                                                          \
    }                                                                                                                  \
    static selvedge_value name##_take(void *object, const selvedge_value *args) {                                      \
        int value;                                                                                                     \
        (void)args;                                                                                                    \
        return take((type *)object, &value) ? (selvedge_value)value : SELVEDGE_EMPTY;                                  \
    }                                                                                                                  \
    SELVEDGE_OBJECT(name, create, destroy, RELAXED_PUTS(put_name, name##_put), SELVEDGE_CALL(take_name, name##_take));  \
    SELVEDGE_REFERENCE(name, golden_new, golden_free, RELAXED_PUTS(put_name, golden_insert),                           \
                       SELVEDGE_CALL(take_name, golden))
/* As many as the largest test of Round-Up's tables puts in. */
#define RELAXED_PUTS(name, put)                                                                                        \
    SELVEDGE_CALL(name, put, 1), SELVEDGE_CALL(name, put, 2), SELVEDGE_CALL(name, put, 3), SELVEDGE_CALL(name, put, 4), \
        SELVEDGE_CALL(name, put, 5), SELVEDGE_CALL(name, put, 6), SELVEDGE_CALL(name, put, 7)
#define RELAXED_QUEUE(name, type, create, destroy, enq, deq)                                                           \
    RELAXED_OBJECT(name, type, create, destroy, "enq", enq, "deq", deq, golden_first)
#define RELAXED_STACK(name, type, create, destroy, push, pop)                                                          \
    RELAXED_OBJECT(name, type, create, destroy, "push", push, "pop", pop, golden_last)
#define RELAXED_PRIORITY_QUEUE(name, type, create, destroy, insert, poll)                                              \
    RELAXED_OBJECT(name, type, create, destroy, "insert", insert, "poll", poll, golden_least)

#endif
