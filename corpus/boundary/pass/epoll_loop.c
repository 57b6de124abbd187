// An event loop with a worker that wakes it by an eventfd, edge triggered, and a pipe with a result.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event, result[2];
static int computed;

static void *work(void *argument) {
    uint64_t one = 1;
    computed = 6 * 7;
    assert(write(event, &one, sizeof one) == sizeof one);
    assert(write(result[1], "r", 1) == 1);
    return argument;
}

SELVEDGE_TEST(epoll_loop) {
    pthread_t worker;
    struct epoll_event wanted, got[4];
    int seen = 0, epoll = epoll_create1(EPOLL_CLOEXEC);
    event = eventfd(0, EFD_NONBLOCK);
    assert(pipe(result) == 0);
    wanted.events = EPOLLIN | EPOLLET;
    wanted.data.fd = event;
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) == 0);
    wanted.events = EPOLLIN;
    wanted.data.fd = result[0];
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, result[0], &wanted) == 0);
    pthread_create(&worker, NULL, work, NULL);
    while (seen < 2) {
        int count = epoll_wait(epoll, got, 4, -1);
        assert(count > 0);
        for (int at = 0; at < count; at++) {
            if (got[at].data.fd == event) {
                uint64_t value;
                assert(read(event, &value, sizeof value) == sizeof value);
                assert(computed == 42);
            } else {
                char byte;
                assert(read(result[0], &byte, 1) == 1);
            }
            seen++;
        }
    }
    assert(epoll_wait(epoll, got, 4, 0) == 0);
    pthread_join(worker, NULL);
    close(epoll);
    close(event);
    close(result[0]);
    close(result[1]);
}
