// Requests and answers over a pair of sockets, until the client shuts its side down.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static int served;

static void *serve(void *argument) {
    int request;
    while (recv(ends[1], &request, sizeof request, MSG_WAITALL) == sizeof request) {
        served++;
        request *= 2;
        assert(send(ends[1], &request, sizeof request, MSG_NOSIGNAL) == sizeof request);
    }
    close(ends[1]);
    return argument;
}

static void talk(int kind) {
    pthread_t server;
    assert(socketpair(AF_UNIX, kind, 0, ends) == 0);
    pthread_create(&server, NULL, serve, NULL);
    for (int at = 1; at < 3; at++) {
        int value = at;
        assert(write(ends[0], &value, sizeof value) == sizeof value);
        assert(read(ends[0], &value, sizeof value) == sizeof value);
        assert(value == 2 * at && served == at);
    }
    assert(shutdown(ends[0], SHUT_WR) == 0);
    char byte;
    assert(read(ends[0], &byte, 1) == 0);
    assert(served == 2);
    pthread_join(server, NULL);
    close(ends[0]);
}

SELVEDGE_TEST(stream) {
    talk(SOCK_STREAM);
}

SELVEDGE_TEST(packets) {
    talk(SOCK_SEQPACKET);
}
