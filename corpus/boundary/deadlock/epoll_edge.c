// Edge triggered, and only one of two bytes is read: nobody tells of the other.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/epoll.h>
#include <unistd.h>

static int ends[2];

static void *put(void *argument) {
    assert(write(ends[1], "ab", 2) == 2);
    return argument;
}

SELVEDGE_TEST(epoll_edge) {
    pthread_t thread;
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET}, got;
    int epoll = epoll_create1(0);
    assert(pipe(ends) == 0);
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted) == 0);
    pthread_create(&thread, NULL, put, NULL);
    for (int at = 0; at < 2; at++) {
        char byte;
        assert(epoll_wait(epoll, &got, 1, -1) == 1);
        assert(read(ends[0], &byte, 1) == 1);
    }
    pthread_join(thread, NULL);
}
