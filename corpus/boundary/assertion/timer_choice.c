// A timer may expire before the work is done.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int ends[2];

static void *work(void *argument) {
    assert(write(ends[1], "x", 1) == 1);
    return argument;
}

SELVEDGE_TEST(timer_choice) {
    pthread_t thread;
    struct itimerspec second = {.it_value = {.tv_sec = 1}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    assert(pipe(ends) == 0);
    assert(timerfd_settime(timer, 0, &second, NULL) == 0);
    pthread_create(&thread, NULL, work, NULL);
    struct pollfd polled[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = timer, .events = POLLIN}};
    assert(poll(polled, 2, -1) > 0);
    assert(polled[0].revents & POLLIN);
    pthread_join(thread, NULL);
}
