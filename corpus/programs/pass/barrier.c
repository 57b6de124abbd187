/* Nobody passes a barrier before all have come. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static atomic_int come;

static void *meet(void *argument) {
    atomic_fetch_add(&come, 1);
    pthread_barrier_wait(&barrier);
    assert(atomic_load(&come) == 2);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(barrier) {
    pthread_barrier_init(&barrier, NULL, 2);
    both(meet, meet);
}
