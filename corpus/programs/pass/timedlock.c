/* pthread_mutex_timedlock: whether the lock or the time comes first is a choice; both are right here. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int held, gave_up;

static void *hold(void *argument) {
    pthread_mutex_lock(&mutex);
    held++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *try(void *argument) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int result = pthread_mutex_timedlock(&mutex, &until);
    assert(result == 0 || result == ETIMEDOUT);
    if (result == 0) {
        held++;
        pthread_mutex_unlock(&mutex);
    } else {
        gave_up = 1;
    }
    return argument;
}

SELVEDGE_TEST(timedlock) {
    pthread_t a, b;
    pthread_create(&a, NULL, hold, NULL);
    pthread_create(&b, NULL, try, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(held + gave_up == 2);
}
