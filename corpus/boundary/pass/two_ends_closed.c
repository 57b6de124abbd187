// The end is found when both copies are closed, and what was done before each close is known.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2], copy;
static int done[2];

static void *one(void *argument) {
    done[0] = 1;
    close(ends[1]);
    return argument;
}

static void *other(void *argument) {
    done[1] = 1;
    close(copy);
    return argument;
}

SELVEDGE_TEST(two_ends_closed) {
    pthread_t a, b;
    char byte;
    assert(pipe(ends) == 0);
    copy = dup(ends[1]);
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, other, NULL);
    assert(read(ends[0], &byte, 1) == 0);
    assert(done[0] + done[1] == 2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    close(ends[0]);
}
