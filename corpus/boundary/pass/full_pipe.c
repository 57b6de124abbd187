// More than the pipe holds, to a reader that is there: everything arrives, in order, and then the end.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];
static char block[40000];

static void *drain(void *argument) {
    static char buffer[50000];
    size_t total = 0;
    for (;;) {
        ssize_t got = read(ends[0], buffer, sizeof buffer);
        if (got == 0)
            break;
        assert(got > 0);
        total += (size_t)got;
    }
    assert(total == 2 * sizeof block);
    return argument;
}

SELVEDGE_TEST(full_pipe) {
    pthread_t thread;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, drain, NULL);
    for (int at = 0; at < 2; at++)
        assert(write(ends[1], block, sizeof block) == sizeof block);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
}
