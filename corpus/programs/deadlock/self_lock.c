/* A thread that locks what it holds. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

SELVEDGE_TEST(self_lock) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}
