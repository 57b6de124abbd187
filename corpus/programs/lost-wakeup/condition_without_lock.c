/* The flag is set without the mutex, so the signal can come between the look and the wait. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int full;

static void *produce(void *argument) {
    atomic_store(&full, 1);
    pthread_cond_signal(&condition);
    return argument;
}

static void *consume(void *argument) {
    pthread_mutex_lock(&mutex);
    if (!atomic_load(&full))
        pthread_cond_wait(&condition, &mutex);
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

SELVEDGE_TEST(condition_without_lock) { both(produce, consume); }
