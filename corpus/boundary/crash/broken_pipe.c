// A write to a pipe that nobody reads ends the process, in the schedule in which the reader is gone.
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *leave(void *argument) {
    close(ends[0]);
    return argument;
}

SELVEDGE_TEST(broken_pipe) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return;
    pthread_create(&thread, NULL, leave, NULL);
    write(ends[1], "x", 1);
    pthread_join(thread, NULL);
    close(ends[1]);
}
