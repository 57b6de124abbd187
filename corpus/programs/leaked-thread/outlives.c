/* A thread that is still running when the test returns. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int flag;

static void *late(void *argument) {
    atomic_store(&flag, 1);
    atomic_store(&flag, 2);
    return argument;
}

SELVEDGE_TEST(outlives) {
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    pthread_detach(thread);
    atomic_load(&flag);
}
