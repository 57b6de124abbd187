/* A register and a counter whose operations are marked. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_long cell;

static void *write_and_read(void *argument) {
    selvedge_call("write", (long)argument);
    atomic_store(&cell, (long)argument);
    selvedge_return(0);
    selvedge_call("read", 0);
    selvedge_return(atomic_load(&cell));
    return NULL;
}

static void *increment(void *argument) {
    selvedge_call("increment", 0);
    long seen = atomic_load(&cell);
    atomic_store(&cell, seen + 1);
    selvedge_return(seen);
    return argument;
}

static void run(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(reads) { run(write_and_read, increment); }
SELVEDGE_TEST(increments) { run(increment, increment); }
