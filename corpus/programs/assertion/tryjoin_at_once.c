/* A thread that makes no step need not have ended when its creator goes on. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static void *work(void *argument) {
    return argument;
}

SELVEDGE_TEST(not_yet) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    int early = pthread_tryjoin_np(thread, NULL);
    if (early)
        pthread_join(thread, NULL);
    assert(early == 0);
}

SELVEDGE_TEST(already) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    int early = pthread_tryjoin_np(thread, NULL);
    if (early)
        pthread_join(thread, NULL);
    assert(early != 0);
}
