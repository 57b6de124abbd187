// A thread looks again and again, under the lock, whether the other is done.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool done;
static int result;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    result = 42;
    done = true;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(polls_under_lock) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    for (bool ready = false; !ready;) {
        pthread_mutex_lock(&lock);
        ready = done;
        pthread_mutex_unlock(&lock);
    }
    assert(result == 42);
    pthread_join(worker, NULL);
}
