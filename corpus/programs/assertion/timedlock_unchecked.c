/* The result of pthread_mutex_timedlock is not looked at: with the lock of another thread still held, an update is lost. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int count;

static void add(void) {
    int seen = atomic_load(&count);
    atomic_store(&count, seen + 1);
}

static void *patient(void *argument) {
    pthread_mutex_lock(&mutex);
    add();
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *hasty(void *argument) {
    struct timespec until = {0, 0};
    int locked = pthread_mutex_timedlock(&mutex, &until) == 0;
    add();
    if (locked)
        pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(timedlock_unchecked) {
    pthread_t a, b;
    pthread_create(&a, NULL, patient, NULL);
    pthread_create(&b, NULL, hasty, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&count) == 2);
}
