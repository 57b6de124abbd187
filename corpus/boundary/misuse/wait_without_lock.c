// The mutex of a wait is not held.
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *wait(void *unused) {
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    return unused;
}

SELVEDGE_TEST(wait_without_lock) {
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait, NULL);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_join(waiter, NULL);
}
