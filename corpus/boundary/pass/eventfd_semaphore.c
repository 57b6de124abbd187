// An eventfd as a semaphore that two workers take one unit each of.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event;
static int slot;

static void *take(void *argument) {
    eventfd_t one;
    assert(eventfd_read(event, &one) == 0);
    assert(one == 1);
    assert(slot == 5);
    return argument;
}

SELVEDGE_TEST(eventfd_semaphore) {
    pthread_t a, b;
    uint64_t count;
    event = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    assert(read(event, &count, sizeof count) == -1 && errno == EAGAIN);
    close(event);
    event = eventfd(0, EFD_SEMAPHORE);
    pthread_create(&a, NULL, take, NULL);
    pthread_create(&b, NULL, take, NULL);
    slot = 5;
    assert(eventfd_write(event, 2) == 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    close(event);
}
