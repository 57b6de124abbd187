/* What is legal at the end of locks, queues and semaphores: the last who uses them destroys and frees them at once, static initialisers need no call,
   and what was destroyed may be initialised again. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int users, ready;
};

static struct object *object;

static void both(void *(*first)(void *), void *(*second)(void *)) {
    object = malloc(sizeof *object);
    *object = (struct object){.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER, .users = 2};
    sem_init(&object->semaphore, 0, 0);
    pthread_barrier_init(&object->barrier, NULL, 2);
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *leaves(void *argument) {
    pthread_mutex_lock(&object->mutex);
    int left = --object->users;
    pthread_mutex_unlock(&object->mutex);
    if (!left) {
        pthread_mutex_destroy(&object->mutex);
        free(object);
    }
    return argument;
}

SELVEDGE_TEST(last_one_frees) { both(leaves, leaves); }

static void *sets(void *argument) {
    pthread_mutex_lock(&object->mutex);
    object->ready = 1;
    pthread_cond_broadcast(&object->condition);
    pthread_mutex_unlock(&object->mutex);
    return argument;
}

/* POSIX names this one: the condition variable may go when all who waited were woken. */
static void *waits_and_drops(void *argument) {
    pthread_mutex_lock(&object->mutex);
    while (!object->ready)
        pthread_cond_wait(&object->condition, &object->mutex);
    pthread_cond_destroy(&object->condition);
    pthread_mutex_unlock(&object->mutex);
    pthread_mutex_destroy(&object->mutex);
    free(object);
    return argument;
}

SELVEDGE_TEST(woken_and_freed) { both(sets, waits_and_drops); }

static void *wakes_and_destroys(void *argument) {
    pthread_mutex_lock(&object->mutex);
    object->ready = 1;
    pthread_cond_broadcast(&object->condition);
    pthread_cond_destroy(&object->condition);
    pthread_mutex_unlock(&object->mutex);
    return argument;
}

static void *waits(void *argument) {
    pthread_mutex_lock(&object->mutex);
    while (!object->ready)
        pthread_cond_wait(&object->condition, &object->mutex);
    pthread_mutex_unlock(&object->mutex);
    return argument;
}

SELVEDGE_TEST(destroyed_after_broadcast) { both(wakes_and_destroys, waits); }

static void *meets(void *argument) {
    if (pthread_barrier_wait(&object->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        pthread_barrier_destroy(&object->barrier);
    return argument;
}

SELVEDGE_TEST(barrier_destroyed_by_one) { both(meets, meets); }

static void *posts(void *argument) {
    sem_post(&object->semaphore);
    return argument;
}

static void *takes_and_drops(void *argument) {
    sem_wait(&object->semaphore);
    sem_destroy(&object->semaphore);
    free(object);
    return argument;
}

SELVEDGE_TEST(semaphore_freed_after_wait) { both(posts, takes_and_drops); }

static pthread_mutex_t mutex;

static void *counts(void *argument) {
    pthread_mutex_lock(&mutex);
    ++*(int *)argument;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void twice(void) {
    int count = 0;
    pthread_t one, other;
    pthread_create(&one, NULL, counts, &count);
    pthread_create(&other, NULL, counts, &count);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(count == 2);
    pthread_mutex_destroy(&mutex);
}

SELVEDGE_TEST(initialised_again) {
    twice();
    pthread_mutex_init(&mutex, NULL);
    twice();
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    twice();
}

/* A lock that goes with its memory is no lock of what comes there next. */
SELVEDGE_TEST(locked_and_freed) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_t *locked = calloc(1, sizeof *locked);
        pthread_mutex_lock(locked);
        free(locked);
    }
}

SELVEDGE_TEST(refused_by_flavour) {
    pthread_mutexattr_t checks;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t checked;
    pthread_mutex_init(&checked, &checks);
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    assert(pthread_cond_wait(&condition, &checked) != 0);
    assert(pthread_mutex_unlock(&checked) != 0);
    pthread_mutex_destroy(&checked);
}
