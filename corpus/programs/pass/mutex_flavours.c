/* Recursive and error-checking mutexes answer as POSIX says. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <errno.h>
static pthread_mutex_t recursive, checking;
static int counter;

static void *twice(void *argument) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    counter++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return argument;
}

static void *foreign(void *argument) {
    assert(pthread_mutex_unlock(&checking) == EPERM);
    assert(pthread_mutex_trylock(&checking) == EBUSY);
    return argument;
}

static void make(pthread_mutex_t *mutex, int kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(mutex, &attributes);
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(recursive) {
    make(&recursive, PTHREAD_MUTEX_RECURSIVE);
    both(twice, twice);
    assert(counter == 2);
}

SELVEDGE_TEST(checking) {
    pthread_t thread;
    make(&checking, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_lock(&checking);
    assert(pthread_mutex_lock(&checking) == EDEADLK);
    pthread_create(&thread, NULL, foreign, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&checking);
}
