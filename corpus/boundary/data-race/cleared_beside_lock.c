// The structure is cleared without the lock that every increment holds.
#include <pthread.h>
#include <string.h>

#include <selvedge.h>

static struct { long hits, misses; } statistics;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    statistics.hits++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(cleared_beside_lock) {
    pthread_t counter;
    pthread_create(&counter, NULL, count, NULL);
    memset(&statistics, 0, sizeof statistics);
    pthread_join(counter, NULL);
}
