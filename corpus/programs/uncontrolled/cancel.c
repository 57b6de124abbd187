/* Cancelling a thread is not controlled, and that is said. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static void *nothing(void *argument) { return argument; }

SELVEDGE_TEST(cancel) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}
