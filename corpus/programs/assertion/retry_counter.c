/* A loop that gives up after two failures: a failed attempt leaves its count behind. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int cell;
static int gave_up;

static int add(int limit) {
    int failed = 0;
    for (;;) {
        int seen = atomic_load(&cell);
        if (atomic_compare_exchange_strong(&cell, &seen, seen + 1))
            return 0;
        if (++failed == limit)
            return 1;
    }
}

static void *patient(void *argument) {
    add(1000);
    return argument;
}

static void *hasty(void *argument) {
    gave_up = add(2);
    return argument;
}

SELVEDGE_TEST(gives_up_after_two_failures) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, patient, NULL);
    pthread_create(&threads[1], NULL, patient, NULL);
    pthread_create(&threads[2], NULL, hasty, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(!gave_up);
}
