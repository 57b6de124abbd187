/* A thread that counts while it waits is not a livelock: the other only has to have its turn. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int ready, rounds;

static void *await(void *argument) {
    while (!atomic_load(&ready) && atomic_load(&rounds) < 3)
        atomic_fetch_add(&rounds, 1);
    return argument;
}

SELVEDGE_TEST(counting_spinner) {
    pthread_t thread;
    pthread_create(&thread, NULL, await, NULL);
    atomic_store(&ready, 1);
    pthread_join(thread, NULL);
}
