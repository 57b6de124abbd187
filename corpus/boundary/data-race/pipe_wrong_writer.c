// Two threads write to a pipe, and the reader of one byte looks at what both of them did.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];
static int done[2];

static void *work(void *argument) {
    int number = argument != NULL;
    done[number] = 1;
    assert(write(ends[1], "x", 1) == 1);
    return NULL;
}

SELVEDGE_TEST(pipe_wrong_writer) {
    pthread_t a, b;
    char byte;
    assert(pipe(ends) == 0);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, ends);
    assert(read(ends[0], &byte, 1) == 1);
    assert(done[0] + done[1] > 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
