/* A wait that times out once may time out twice. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signals(void *argument) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(times_out_once) {
    struct timespec until = {9, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, signals, NULL);
    pthread_mutex_lock(&mutex);
    for (int passed = 0; !ready;) {
        passed += pthread_cond_timedwait(&condition, &mutex, &until) != 0;
        assert(passed < 2);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
