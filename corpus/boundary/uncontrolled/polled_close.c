// A descriptor is closed while another thread polls it: Linux looks at it again only when something else happens.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *wait_for_it(void *argument) {
    struct pollfd polled = {.fd = ends[0], .events = POLLIN};
    poll(&polled, 1, -1);
    return argument;
}

SELVEDGE_TEST(polled_close) {
    pthread_t thread;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, wait_for_it, NULL);
    close(ends[0]);
    pthread_join(thread, NULL);
}
