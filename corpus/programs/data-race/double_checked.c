/* Double-checked locking with a plain flag. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ready, value;

static void *use(void *argument) {
    if (!ready) {
        pthread_mutex_lock(&mutex);
        if (!ready) {
            value = 3;
            ready = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    assert(value == 3);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(double_checked) { both(use, use); }
