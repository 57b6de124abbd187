// only: gcc
// A nested function sees the variables of the one around it.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

SELVEDGE_TEST(nested_function) {
    int total = 0;
    void *add(void *unused) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
        return unused;
    }
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    assert(total == 2);
}
