// A thread writes more than the pipe holds before anybody reads: the reader is started by the same thread, later.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static char block[4096];

static void *drain(void *argument) {
    char buffer[4096];
    while (read(ends[0], buffer, sizeof buffer) > 0) {
    }
    return argument;
}

SELVEDGE_TEST(full_pipe) {
    pthread_t thread;
    assert(pipe(ends) == 0);
    for (int at = 0; at < 17; at++)
        assert(write(ends[1], block, sizeof block) == sizeof block);
    pthread_create(&thread, NULL, drain, NULL);
    close(ends[1]);
    pthread_join(thread, NULL);
}
