/* Whoever comes while another one tries waits for that, and tries again itself when the other one failed: a loop around a loop. */
#include <stdatomic.h>
#include <stdlib.h>
#include <selvedge.h>

enum { INCOMPLETE, RUNNING };

static void *once_new(void) {
    return calloc(1, sizeof(atomic_int));
}

static selvedge_value fail(void *object, const selvedge_value *arguments) {
    atomic_int *state = object;
    (void)arguments;
    for (;;) {
        int expected = INCOMPLETE;
        if (atomic_compare_exchange_strong(state, &expected, RUNNING))
            break;
        while (atomic_load(state) == RUNNING)
            ;
    }
    atomic_store(state, INCOMPLETE);
    return SELVEDGE_FAIL;
}

SELVEDGE_OBJECT(once, once_new, free, SELVEDGE_CALL("fail", fail));
