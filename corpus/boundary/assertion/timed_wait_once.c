/* Takes every end of a timed wait that is no timeout for a signal. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <selvedge.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *await(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&lock);
    int result = ready ? 0 : pthread_cond_timedwait(&changed, &lock, &until);
    assert(result == ETIMEDOUT || ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(timeout_or_signal) {
    pthread_t waiter;
    pthread_create(&waiter, NULL, await, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(waiter, NULL);
}
