/* Data that is handed over through a pipe, or through a pair of sockets, is no data race. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static int data;

static void *put(void *argument) {
    data = 42;
    assert(write(ends[1], "x", 1) == 1);
    return argument;
}

static void hand_over(void) {
    pthread_t thread;
    char found;
    pthread_create(&thread, NULL, put, NULL);
    assert(read(ends[0], &found, 1) == 1);
    assert(data == 42);
    pthread_join(thread, NULL);
}

SELVEDGE_TEST(pipe_hand_over) {
    assert(pipe(ends) == 0);
    hand_over();
}

SELVEDGE_TEST(socket_hand_over) {
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    hand_over();
}
