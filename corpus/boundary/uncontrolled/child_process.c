// A child of the process is out of reach.
#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <selvedge.h>

static void *run(void *unused) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return unused;
}

SELVEDGE_TEST(child_process) {
    pthread_t other;
    pthread_create(&other, NULL, run, NULL);
    pthread_join(other, NULL);
}
