// What a test puts into the environment is gone before the next run.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *configure(void *value) {
    pthread_mutex_lock(&lock);
    setenv("WORKERS", value, 0);
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(environment) {
    pthread_t one, other;
    assert(getenv("WORKERS") == NULL);
    pthread_create(&one, NULL, configure, "1");
    pthread_create(&other, NULL, configure, "22");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    const char *workers = getenv("WORKERS");
    assert(strcmp(workers, "1") == 0 || strcmp(workers, "22") == 0);
}
