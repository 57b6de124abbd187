// Closing a pipe's end in another thread does not wake the one that reads from it.
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *wait_for_byte(void *argument) {
    char byte;
    read(ends[0], &byte, 1);
    return argument;
}

SELVEDGE_TEST(close_while_reading) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return;
    pthread_create(&thread, NULL, wait_for_byte, NULL);
    close(ends[0]);
    pthread_join(thread, NULL);
    close(ends[1]);
}
