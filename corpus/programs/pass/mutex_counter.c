/* A counter under a mutex. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *argument) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(mutex_counter) {
    both(add, add);
    assert(counter == 2);
}
