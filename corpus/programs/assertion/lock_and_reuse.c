/* A thread takes a lock and allocates what another freed before it comes to its next step: it may still be the first to have the lock. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *given;
void *taken;

static void *gives_inside(void *argument) {
    pthread_mutex_lock(&mutex);
    done = 1;
    free(given);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *gives_outside(void *argument) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    free(given);
    return argument;
}

static void *takes(void *argument) {
    pthread_mutex_lock(&mutex);
    taken = malloc(24);
    assert(done);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void both(void *(*gives)(void *)) {
    given = malloc(24);
    pthread_t one, other;
    pthread_create(&one, NULL, gives, NULL);
    pthread_create(&other, NULL, takes, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

SELVEDGE_TEST(given_inside) { both(gives_inside); }
SELVEDGE_TEST(given_outside) { both(gives_outside); }
