// Two threads that nobody waits for take two locks in opposite order.
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *unused) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return unused;
}

static void *backward(void *unused) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}

SELVEDGE_TEST(left_over_circle) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, forward, NULL);
    pthread_create(&threads[1], NULL, backward, NULL);
}
