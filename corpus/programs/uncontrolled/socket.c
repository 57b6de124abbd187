/* A socket that leads out of the process. */
#include <pthread.h>
#include <selvedge.h>
#include <sys/socket.h>
#include <unistd.h>

static void *work(void *argument) {
    return argument;
}

SELVEDGE_TEST(socket_) {
    pthread_t thread;
    int out = socket(AF_INET, SOCK_STREAM, 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    close(out);
}
