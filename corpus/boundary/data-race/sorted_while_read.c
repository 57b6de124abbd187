// qsort moves elements that another thread reads without the lock.
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static int numbers[] = {3, 1, 2};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int rising(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *sort(void *unused) {
    pthread_mutex_lock(&lock);
    qsort(numbers, 3, sizeof numbers[0], rising);
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(sorted_while_read) {
    pthread_t sorter;
    pthread_create(&sorter, NULL, sort, NULL);
    int first = numbers[0];
    pthread_join(sorter, NULL);
    if (first != 1 && first != 3)
        numbers[0] = 0;
}
