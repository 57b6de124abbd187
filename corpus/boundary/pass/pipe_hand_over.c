// A pointer that is handed over through a pipe, a pair of sockets or an eventfd: what it points to is no data race.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct job {
    int number;
    char text[12];
};

static int ends[2];

static void *put(void *argument) {
    struct job *job = malloc(sizeof *job);
    job->number = 42;
    assert(write(ends[1], &job, sizeof job) == sizeof job);
    return argument;
}

static void hand_over(void) {
    pthread_t thread;
    struct job *job;
    pthread_create(&thread, NULL, put, NULL);
    assert(read(ends[0], &job, sizeof job) == sizeof job);
    assert(job->number == 42);
    job->number++;
    free(job);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

SELVEDGE_TEST(through_a_pipe) {
    assert(pipe(ends) == 0);
    hand_over();
}

SELVEDGE_TEST(through_sockets) {
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    hand_over();
}

SELVEDGE_TEST(through_messages) {
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    hand_over();
}

static int event;
static struct job shared;

static void *signal_job(void *argument) {
    uint64_t one = 1;
    shared.number = 7;
    assert(write(event, &one, sizeof one) == sizeof one);
    return argument;
}

SELVEDGE_TEST(with_an_eventfd) {
    pthread_t thread;
    uint64_t count;
    event = eventfd(0, EFD_CLOEXEC);
    pthread_create(&thread, NULL, signal_job, NULL);
    assert(read(event, &count, sizeof count) == sizeof count);
    assert(count == 1 && shared.number == 7);
    shared.number = 8;
    pthread_join(thread, NULL);
    close(event);
}
