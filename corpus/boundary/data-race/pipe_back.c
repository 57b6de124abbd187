// The writer goes on with what it has handed over: nothing orders that after the read.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];
static int data;

static void *put(void *argument) {
    data = 1;
    assert(write(ends[1], "x", 1) == 1);
    data = 2;
    return argument;
}

SELVEDGE_TEST(pipe_back) {
    pthread_t thread;
    char byte;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, put, NULL);
    assert(read(ends[0], &byte, 1) == 1);
    assert(data > 0);
    pthread_join(thread, NULL);
}
