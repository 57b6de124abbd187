// The self-pipe trick: a thread in poll is woken by a byte, and finds out why.
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <fcntl.h>
#include <errno.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <unistd.h>

static int wake[2], data[2];
static atomic_int stop;

static void *loop(void *argument) {
    int *seen = argument;
    for (;;) {
        struct pollfd polled[2] = {{.fd = wake[0], .events = POLLIN}, {.fd = data[0], .events = POLLIN}};
        int ready = poll(polled, 2, -1);
        assert(ready > 0);
        if (polled[1].revents & POLLIN) {
            char byte;
            assert(read(data[0], &byte, 1) == 1);
            (*seen)++;
        }
        if (polled[0].revents & POLLIN) {
            char bytes[8];
            while (read(wake[0], bytes, sizeof bytes) > 0) {
            }
            assert(errno == EAGAIN);
            if (atomic_load(&stop))
                return NULL;
        }
    }
}

SELVEDGE_TEST(self_pipe) {
    pthread_t thread;
    int seen = 0;
    assert(pipe2(wake, O_NONBLOCK | O_CLOEXEC) == 0);
    assert(pipe(data) == 0);
    atomic_store(&stop, 0);
    pthread_create(&thread, NULL, loop, &seen);
    assert(write(data[1], "d", 1) == 1);
    atomic_store(&stop, 1);
    assert(write(wake[1], "w", 1) == 1);
    pthread_join(thread, NULL);
    assert(seen <= 1);
}
