/* The failure path returns, and says so. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static _Atomic int cell;
static int failed[2];

static int add(void) {
    int seen = atomic_load(&cell);
    return atomic_compare_exchange_strong(&cell, &seen, seen + 1);
}

static void *work(void *argument) {
    int *mine = argument;
    while (!add())
        (*mine)++;
    return NULL;
}

SELVEDGE_TEST(nobody_fails) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, &failed[0]);
    pthread_create(&other, NULL, work, &failed[1]);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(failed[0] + failed[1] == 0);
}
