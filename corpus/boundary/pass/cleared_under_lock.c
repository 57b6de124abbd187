// Structures are cleared, copied and compared under the lock.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include <selvedge.h>

static struct statistics { long hits, misses; char name[40]; } statistics, last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused) {
    pthread_mutex_lock(&lock);
    statistics.hits++;
    strcpy(statistics.name, "counted");
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(cleared_under_lock) {
    pthread_t counter;
    pthread_create(&counter, NULL, count, NULL);
    pthread_mutex_lock(&lock);
    last = statistics;
    memset(&statistics, 0, sizeof statistics);
    pthread_mutex_unlock(&lock);
    pthread_join(counter, NULL);
    assert(last.hits + statistics.hits == 1);
    assert(memcmp(last.name, "counted", 8) == 0 || memcmp(statistics.name, "counted", 8) == 0);
}
