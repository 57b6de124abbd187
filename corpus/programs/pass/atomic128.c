/* Sixteen bytes at once. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef unsigned __int128 wide;
static wide cell;

static void *add(void *argument) {
    wide old = __atomic_load_n(&cell, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&cell, &old, old + (((wide)1 << 64) | 1), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(atomic128) {
    both(add, add);
    assert((unsigned long)cell == 2 && (unsigned long)(cell >> 64) == 2);
}
