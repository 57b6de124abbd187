// A thread publishes the address of its own variable and waits until it was used.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#include <selvedge.h>

struct job { int progress; };

static struct job *_Atomic current;
static sem_t there, done;

static void *work(void *unused) {
    struct job own = {0};
    current = &own;
    sem_post(&there);
    sem_wait(&done);
    assert(own.progress == 42);
    return unused;
}

SELVEDGE_TEST(variable_of_the_waiting) {
    pthread_t worker;
    sem_init(&there, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    sem_wait(&there);
    current->progress = 42;
    sem_post(&done);
    pthread_join(worker, NULL);
}
