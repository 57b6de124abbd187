// More threads than one run can have, one after the other.
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(six_hundred) {
    for (int i = 0; i < 600; i++) {
        pthread_t worker;
        pthread_create(&worker, NULL, work, NULL);
        pthread_join(worker, NULL);
    }
}
