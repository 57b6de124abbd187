/* A hand-over through a condition variable, with its predicate. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int full, value;

static void *produce(void *argument) {
    pthread_mutex_lock(&mutex);
    value = 42;
    full = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *consume(void *argument) {
    pthread_mutex_lock(&mutex);
    while (!full)
        pthread_cond_wait(&condition, &mutex);
    assert(value == 42);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(condition) { both(produce, consume); }
