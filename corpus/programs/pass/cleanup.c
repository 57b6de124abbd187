/* Handlers for the end of a thread run when it exits, the last one first, and before the destructors of its keys. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int order;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void then(void *expected) {
    assert(atomic_fetch_add(&order, 1) == *(const int *)expected);
}

static void unlock(void *locked) {
    pthread_mutex_unlock(locked);
}

static void *exits(void *argument) {
    static const int first = 0, second = 1, third = 2;
    pthread_setspecific(key, &third);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    pthread_cleanup_push(then, (void *)&second);
    pthread_cleanup_push(then, (void *)&first);
    pthread_cleanup_push(then, NULL);
    pthread_cleanup_pop(0);
    pthread_exit(argument);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
}

SELVEDGE_TEST(handlers) {
    pthread_t thread;
    void *result;
    pthread_key_create(&key, then);
    pthread_create(&thread, NULL, exits, &order);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, &result);
    assert(result == &order && order == 3);
}
