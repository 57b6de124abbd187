/* Only runs in which the consumer finds something are of interest; what it finds must then be whole. The producer does something else first. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static int data;
static atomic_int started, full;

static void *produce(void *unused) {
    atomic_store(&started, 1);
    data = 7;
    atomic_store(&full, 1);
    return unused;
}

static void *consume(void *unused) {
    selvedge_assume(atomic_load(&full));
    assert(data == 7);
    return unused;
}

SELVEDGE_TEST(whole) {
    pthread_t producer, consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
}
