// Nineteen threads set two variables, one looks at them and expects both or none: an error that needs one preemption, with twenty threads that can go in any order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

#define SETTERS 19

static atomic_int first, second;

static void *set(void *unused) {
    atomic_store(&first, 1);
    atomic_store(&second, -1);
    return unused;
}

static void *check(void *unused) {
    int one = atomic_load(&first), other = atomic_load(&second);
    assert((one == 0 && other == 0) || (one == 1 && other == -1));
    return unused;
}

SELVEDGE_TEST(nineteen_setters) {
    pthread_t setters[SETTERS], checker;
    for (int i = 0; i < SETTERS; i++)
        pthread_create(&setters[i], NULL, set, NULL);
    pthread_create(&checker, NULL, check, NULL);
    for (int i = 0; i < SETTERS; i++)
        pthread_join(setters[i], NULL);
    pthread_join(checker, NULL);
}
