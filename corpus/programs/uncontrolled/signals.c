/* Signals: one thread waits until a handler has run, an alarm, a wait for a signal, a signal to the thread itself, to the process. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t hit;

static void on_signal(int signal) { hit = signal; }

static void *await(void *argument) {
    while (!hit) {
    }
    return argument;
}

SELVEDGE_TEST(to_a_thread) {
    pthread_t thread;
    signal(SIGUSR1, on_signal);
    pthread_create(&thread, NULL, await, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
}

SELVEDGE_TEST(alarm_clock) {
    signal(SIGALRM, on_signal);
    alarm(1);
    await(NULL);
}

SELVEDGE_TEST(wait_for_a_signal) {
    sigset_t set;
    int found;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &found);
}

SELVEDGE_TEST(to_itself) {
    signal(SIGUSR2, on_signal);
    raise(SIGUSR2);
    assert(hit == SIGUSR2);
}

SELVEDGE_TEST(end_of_the_process) { kill(getpid(), SIGKILL); }

SELVEDGE_TEST(handler_of_a_fault) { signal(SIGSEGV, on_signal); }
