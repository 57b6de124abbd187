// A signal that comes by itself.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <selvedge.h>

static volatile sig_atomic_t rang;

static void ring(int signal) {
    (void)signal;
    rang = 1;
}

static void *wait_for_it(void *unused) {
    while (!rang)
        sleep(1);
    return unused;
}

SELVEDGE_TEST(alarm_clock) {
    pthread_t other;
    signal(SIGALRM, ring);
    alarm(1);
    pthread_create(&other, NULL, wait_for_it, NULL);
    pthread_join(other, NULL);
}
