/* Operations that go round until another one does something: with and without giving up their turn, and in loops whose rounds all differ. */
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

struct door {
    atomic_int open, taken, rounds, count;
};

static void *door_new(void) { return calloc(1, sizeof(struct door)); }

static selvedge_value open_it(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    atomic_store(&door->open, 1);
    return SELVEDGE_VOID;
}

static selvedge_value shut(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    return atomic_exchange(&door->open, 0);
}

/* Recognised as waiting: nothing changes from round to round. */
static selvedge_value spin(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (!atomic_load(&door->open))
        ;
    return SELVEDGE_VOID;
}

static selvedge_value polite(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (!atomic_load(&door->open))
        sched_yield();
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(spinning, door_new, free, SELVEDGE_CALL("open", open_it), SELVEDGE_CALL("shut", shut), SELVEDGE_CALL("wait", spin));
SELVEDGE_OBJECT(yielding, door_new, free, SELVEDGE_CALL("open", open_it), SELVEDGE_CALL("shut", shut), SELVEDGE_CALL("wait", polite));
/* Never returns, whatever others do, unless it is called first; and changes something in every round, so that nobody can tell that it waits. */
static selvedge_value leave(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (atomic_load(&door->open))
        atomic_fetch_add(&door->rounds, 1);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(trap, door_new, free, SELVEDGE_CALL("open", open_it), SELVEDGE_CALL("leave", leave));

/* Opens in two steps, and somebody who comes between them waits for ever: no serial order explains that. */
static selvedge_value open_late(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    atomic_store(&door->taken, 1);
    atomic_store(&door->taken, 0);
    return SELVEDGE_VOID;
}

static selvedge_value caught(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    if (atomic_load(&door->taken))
        for (;;) {
            atomic_fetch_add(&door->rounds, 1);
            sched_yield();
        }
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(pit, door_new, free, SELVEDGE_CALL("dig", open_late), SELVEDGE_CALL("pass", caught));

/* A lock that spins around a count. */
static selvedge_value next(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (atomic_exchange(&door->taken, 1))
        sched_yield();
    int count = atomic_load(&door->count) + 1;
    atomic_store(&door->count, count);
    atomic_store(&door->taken, 0);
    return count;
}

/* Changes something in every round while it waits, which no serial run does: only an unfair run has no end. */
static selvedge_value restless(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (atomic_exchange(&door->taken, 1))
        atomic_fetch_add(&door->rounds, 1);
    int count = atomic_load(&door->count) + 1;
    atomic_store(&door->count, count);
    atomic_store(&door->taken, 0);
    return count;
}

/* The same with its turn given up in every round: it always comes to its end. */
static selvedge_value patient(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    while (atomic_exchange(&door->taken, 1)) {
        atomic_fetch_add(&door->rounds, 1);
        sched_yield();
    }
    int count = atomic_load(&door->count) + 1;
    atomic_store(&door->count, count);
    atomic_store(&door->taken, 0);
    return count;
}

/* Somebody forgot the lock. */
static selvedge_value next_without(void *object, const selvedge_value *arguments) {
    struct door *door = object;
    (void)arguments;
    sched_yield();
    int count = atomic_load(&door->count) + 1;
    sched_yield();
    atomic_store(&door->count, count);
    return count;
}

SELVEDGE_OBJECT(counter, door_new, free, SELVEDGE_CALL("next", next));
SELVEDGE_OBJECT(unlocked, door_new, free, SELVEDGE_CALL("next", next_without));
SELVEDGE_OBJECT(restless, door_new, free, SELVEDGE_CALL("next", restless));
SELVEDGE_OBJECT(patient, door_new, free, SELVEDGE_CALL("next", patient));
