// The flag is set after the byte: the loop drains the pipe, sees no flag, and polls for ever.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <unistd.h>

static int wake[2];
static atomic_int stop;

static void *loop(void *argument) {
    while (!atomic_load(&stop)) {
        struct pollfd polled = {.fd = wake[0], .events = POLLIN};
        char byte;
        assert(poll(&polled, 1, -1) == 1);
        assert(read(wake[0], &byte, 1) == 1);
    }
    return argument;
}

SELVEDGE_TEST(self_pipe_late) {
    pthread_t thread;
    assert(pipe(wake) == 0);
    pthread_create(&thread, NULL, loop, NULL);
    assert(write(wake[1], "w", 1) == 1);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
}
