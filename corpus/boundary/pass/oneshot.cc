// Two workers wait for one connection's events, each of which one of them gets.
#include <cassert>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <selvedge.h>

struct connection {
    int socket;
    int handled = 0;
};

static void worker(int epoll, int stop) {
    for (;;) {
        epoll_event event;
        assert(epoll_wait(epoll, &event, 1, -1) == 1);
        if (event.data.ptr == nullptr) {
            (void)stop;
            return;
        }
        auto *own = static_cast<connection *>(event.data.ptr);
        char byte;
        assert(recv(own->socket, &byte, 1, MSG_DONTWAIT) == 1);
        own->handled++;
        assert(send(own->socket, &byte, 1, 0) == 1);
    }
}

SELVEDGE_TEST(oneshot) {
    int ends[2], quit[2];
    int epoll = epoll_create1(0);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    assert(pipe(quit) == 0);
    connection one{ends[1]};
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.ptr = &one;
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event) == 0);
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, quit[0], &event) == 0);
    std::thread a(worker, epoll, quit[0]), b(worker, epoll, quit[0]);
    char byte = 'x';
    assert(send(ends[0], &byte, 1, 0) == 1);
    assert(recv(ends[0], &byte, 1, 0) == 1);
    assert(one.handled == 1);
    assert(write(quit[1], "q", 1) == 1);
    a.join();
    b.join();
    for (int number : {ends[0], ends[1], quit[0], quit[1], epoll})
        close(number);
}
