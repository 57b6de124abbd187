// The buffer that one thread reads into is written by another.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];
static char buffer[8];

static void *fill(void *argument) {
    read(ends[0], buffer, sizeof buffer);
    return argument;
}

SELVEDGE_TEST(pipe_buffer) {
    pthread_t thread;
    assert(pipe(ends) == 0);
    assert(write(ends[1], "abc", 3) == 3);
    pthread_create(&thread, NULL, fill, NULL);
    buffer[1] = 'x';
    pthread_join(thread, NULL);
}
