/* An initialisation runs once, and both see its result. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;
static atomic_int runs;

static void initialise(void) {
    atomic_fetch_add(&runs, 1);
    value = 3;
}

static void *use(void *argument) {
    pthread_once(&once, initialise);
    assert(value == 3 && atomic_load(&runs) == 1);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(once) { both(use, use); }
