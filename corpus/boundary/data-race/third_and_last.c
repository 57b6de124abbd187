// Of 160 threads two use the same variable without a lock: the third and the last.
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

#define WORKERS 160

static atomic_int done;
int last_seen;

static void *work(void *argument) {
    long number = (long)argument;
    if (number == 2 || number == WORKERS - 1)
        last_seen = (int)number;
    atomic_fetch_add(&done, 1);
    return NULL;
}

SELVEDGE_TEST(third_and_last) {
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}
