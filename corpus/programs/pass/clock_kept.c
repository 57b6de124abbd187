/* A flag hands a value over, and meanwhile more memory is touched than accesses are remembered of: what the flag published must not get lost. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

#define PAGE 4096
static _Atomic int flag;
static int value;
static char large[2304 * PAGE];

static void *give(void *unused) {
    (void)unused;
    value = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    for (int page = 0; page < 2304; page++)
        large[page * PAGE] = 1;
    return NULL;
}

SELVEDGE_TEST(clock_kept) {
    pthread_t giver;
    pthread_create(&giver, NULL, give, NULL);
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(value == 42);
    pthread_join(giver, NULL);
}
