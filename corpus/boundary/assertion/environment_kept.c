// The second thread to come finds what the first one has set.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *configure(void *unused) {
    pthread_mutex_lock(&lock);
    assert(getenv("CONFIGURED") == NULL);
    setenv("CONFIGURED", "1", 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(environment_kept) {
    pthread_t other;
    pthread_create(&other, NULL, configure, NULL);
    configure(NULL);
    pthread_join(other, NULL);
}
