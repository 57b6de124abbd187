// A function that takes the lock calls another that takes it too.
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int size;

static int get_size(void) {
    pthread_mutex_lock(&lock);
    int seen = size;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    size = get_size() + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(lock_taken_again) {
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    pthread_join(other, NULL);
}
