// Each of two threads answers only when it was asked, and nobody asks first.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int there[2], back[2];

static void *answer(void *argument) {
    char byte;
    assert(read(there[0], &byte, 1) == 1);
    assert(write(back[1], &byte, 1) == 1);
    return argument;
}

SELVEDGE_TEST(two_pipes) {
    pthread_t thread;
    char byte;
    assert(pipe(there) == 0 && pipe(back) == 0);
    pthread_create(&thread, NULL, answer, NULL);
    assert(read(back[0], &byte, 1) == 1);
    assert(write(there[1], &byte, 1) == 1);
    pthread_join(thread, NULL);
}
