/* Three threads, three locks, each taking two: a circle. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *take(void *argument) {
    size_t first = (size_t)argument, second = (first + 1) % 3;
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[second]);
    pthread_mutex_unlock(&locks[second]);
    pthread_mutex_unlock(&locks[first]);
    return NULL;
}

SELVEDGE_TEST(three_locks) {
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
