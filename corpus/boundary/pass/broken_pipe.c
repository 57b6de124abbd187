// Where SIGPIPE is ignored, or not asked for, a write to nobody is an error; what the reader did before it went is known.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <selvedge.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static int left;

static void *leave(void *argument) {
    left = 1;
    close(ends[0]);
    return argument;
}

SELVEDGE_TEST(ignored) {
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, leave, NULL);
    if (write(ends[1], "x", 1) < 0)
        assert(errno == EPIPE && left == 1);
    pthread_join(thread, NULL);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
}

SELVEDGE_TEST(not_asked_for) {
    pthread_t thread;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_create(&thread, NULL, leave, NULL);
    if (send(ends[1], "x", 1, MSG_NOSIGNAL) < 0)
        assert(errno == EPIPE && left == 1);
    pthread_join(thread, NULL);
    close(ends[1]);
}
