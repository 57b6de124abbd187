// flags: -std=c11
// A relaxed store of the thread that released continues its release sequence in C11 and C17.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static int data;
static atomic_int stage;

static void *publish(void *unused) {
    data = 42;
    atomic_store_explicit(&stage, 1, memory_order_release);
    atomic_store_explicit(&stage, 2, memory_order_relaxed);
    return unused;
}

SELVEDGE_TEST(continued_release) {
    pthread_t publisher;
    pthread_create(&publisher, NULL, publish, NULL);
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        assert(data == 42);
    pthread_join(publisher, NULL);
}
