/* A semaphore that is given once too often lets two threads in. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <semaphore.h>
static sem_t unit;
static atomic_int inside;

static void *use(void *argument) {
    sem_wait(&unit);
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    sem_post(&unit);
    sem_post(&unit);
    return argument;
}

SELVEDGE_TEST(semaphore_misuse) {
    pthread_t threads[3];
    sem_init(&unit, 0, 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
