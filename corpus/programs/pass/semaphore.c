/* A semaphore of two units among three threads. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <semaphore.h>
static sem_t units;
static atomic_int inside;

static void *use(void *argument) {
    sem_wait(&units);
    assert(atomic_fetch_add(&inside, 1) < 2);
    atomic_fetch_sub(&inside, 1);
    sem_post(&units);
    return argument;
}

SELVEDGE_TEST(semaphore) {
    pthread_t threads[3];
    sem_init(&units, 0, 2);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
