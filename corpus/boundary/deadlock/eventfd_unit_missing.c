// Two workers want a unit each, and without EFD_SEMAPHORE the first takes both.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event;

static void *take(void *argument) {
    eventfd_t count;
    assert(eventfd_read(event, &count) == 0);
    return argument;
}

SELVEDGE_TEST(eventfd_unit_missing) {
    pthread_t a, b;
    event = eventfd(0, 0);
    pthread_create(&a, NULL, take, NULL);
    pthread_create(&b, NULL, take, NULL);
    assert(eventfd_write(event, 1) == 0);
    assert(eventfd_write(event, 1) == 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    close(event);
}
