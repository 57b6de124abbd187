// The time of a poll may pass before anything comes.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *put(void *argument) {
    assert(write(ends[1], "x", 1) == 1);
    return argument;
}

SELVEDGE_TEST(poll_timeout) {
    pthread_t thread;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, put, NULL);
    struct pollfd polled = {.fd = ends[0], .events = POLLIN};
    assert(poll(&polled, 1, 5000) == 1);
    pthread_join(thread, NULL);
}
