/* A loop that reads sixteen bytes waits like any other, also if both halves are always the same. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

typedef unsigned __int128 wide;
static wide cell;

static void *set(void *argument) {
    __atomic_store_n(&cell, ((wide)1 << 64) | 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cell, ((wide)2 << 64) | 2, __ATOMIC_SEQ_CST);
    return argument;
}

static void *wait_for_it(void *argument) {
    while (__atomic_load_n(&cell, __ATOMIC_SEQ_CST) != (((wide)2 << 64) | 2)) {
    }
    return argument;
}

SELVEDGE_TEST(wide_spin) {
    pthread_t one, other;
    pthread_create(&one, NULL, set, NULL);
    pthread_create(&other, NULL, wait_for_it, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
