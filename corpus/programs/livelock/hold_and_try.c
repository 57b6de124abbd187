/* Each of two threads holds a lock and tries to take the other's, without giving its own back. */
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stddef.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *mine, pthread_mutex_t *other) {
    pthread_mutex_lock(mine);
    while (pthread_mutex_trylock(other))
        sched_yield();
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(mine);
}

static void *first(void *argument) {
    take(&one, &two);
    return argument;
}

static void *second(void *argument) {
    take(&two, &one);
    return argument;
}

SELVEDGE_TEST(hold_and_try) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
