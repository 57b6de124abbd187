/* A thread that makes no step, detached: nothing says that it ends before the test does. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static void *work(void *argument) {
    return argument;
}

SELVEDGE_TEST(no_step) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
}
