// A timer is read by a thread that waits for it, and one that is not set tells nothing.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int timer;
static int before;

static void *wait_for_it(void *argument) {
    uint64_t ticks = 0;
    assert(read(timer, &ticks, sizeof ticks) == sizeof ticks);
    assert(ticks == 1 && before == 3);
    return argument;
}

SELVEDGE_TEST(timer) {
    pthread_t thread;
    uint64_t ticks;
    struct itimerspec set = {.it_value = {.tv_nsec = 1000000}}, left;
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    assert(read(timer, &ticks, sizeof ticks) == -1 && errno == EAGAIN);
    close(timer);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    pthread_create(&thread, NULL, wait_for_it, NULL);
    before = 3;
    assert(timerfd_settime(timer, 0, &set, NULL) == 0);
    pthread_join(thread, NULL);
    assert(timerfd_gettime(timer, &left) == 0);
    assert(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    close(timer);
}
