// One producer, one consumer, one place between them.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int place, full;

static void put(int value) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&changed, &lock);
    place = value;
    full = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&changed, &lock);
    full = 0;
    int value = place;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return value;
}

static void *produce(void *unused) {
    put(1);
    put(2);
    return unused;
}

SELVEDGE_TEST(bounded_buffer) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    assert(take() == 1);
    assert(take() == 2);
    pthread_join(producer, NULL);
}
