// A loop that reads without waiting, and nobody writes.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *look(void *argument) {
    char byte;
    while (read(ends[0], &byte, 1) != 1) {
    }
    return argument;
}

SELVEDGE_TEST(spin_on_pipe) {
    pthread_t thread;
    assert(pipe2(ends, O_NONBLOCK) == 0);
    pthread_create(&thread, NULL, look, NULL);
    pthread_join(thread, NULL);
}
