// A read that does not wait comes before the write in some schedule.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *put(void *argument) {
    assert(write(ends[1], "x", 1) == 1);
    return argument;
}

SELVEDGE_TEST(pipe_at_once) {
    pthread_t thread;
    char found;
    assert(pipe2(ends, O_NONBLOCK) == 0);
    pthread_create(&thread, NULL, put, NULL);
    assert(read(ends[0], &found, 1) == 1);
    pthread_join(thread, NULL);
}
