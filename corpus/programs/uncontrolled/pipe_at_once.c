/* A read that does not wait, and a write that may come before or after it. */
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
    assert(pipe(ends) == 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pthread_create(&thread, NULL, put, NULL);
    assert(read(ends[0], &found, 1) == 1);
    pthread_join(thread, NULL);
}
