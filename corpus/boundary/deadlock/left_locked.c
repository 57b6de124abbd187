// A thread leaves by the way that forgets the lock.
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, limit = 1;

static void *enter(void *unused) {
    pthread_mutex_lock(&lock);
    if (users == limit)
        return unused;
    users++;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(left_locked) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, enter, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
