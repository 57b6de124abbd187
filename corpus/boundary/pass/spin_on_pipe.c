// Loops that only wait: a read that does not wait, a poll that does not either, and one with a limit, until something comes.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *put(void *argument) {
    assert(write(ends[1], "x", 1) == 1);
    return argument;
}

static void start(pthread_t *thread) {
    assert(pipe2(ends, O_NONBLOCK) == 0);
    pthread_create(thread, NULL, put, NULL);
}

static void end(pthread_t thread) {
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

SELVEDGE_TEST(reads) {
    pthread_t thread;
    char byte;
    start(&thread);
    while (read(ends[0], &byte, 1) != 1) {
    }
    end(thread);
}

SELVEDGE_TEST(polls) {
    pthread_t thread;
    struct pollfd polled;
    start(&thread);
    polled.fd = ends[0];
    polled.events = POLLIN;
    while (poll(&polled, 1, 0) == 0) {
    }
    end(thread);
}

SELVEDGE_TEST(polls_with_a_limit) {
    pthread_t thread;
    struct pollfd polled;
    start(&thread);
    polled.fd = ends[0];
    polled.events = POLLIN;
    while (poll(&polled, 1, 10) == 0) {
    }
    end(thread);
}
