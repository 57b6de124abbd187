// The test returns with the lock that a thread wants: no circle, nobody would ever give it back.
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(lock_of_main) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&lock);
}
