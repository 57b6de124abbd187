/* What leads out of the process and is harmless: reading files, writing to the standard streams and to nowhere, masks of signals. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <selvedge.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int count;

static void *work(void *argument) {
    sigset_t all;
    char byte;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    int file = open("/proc/self/cmdline", O_RDONLY);
    assert(file >= 0 && read(file, &byte, 1) == 1);
    close(file);
    atomic_fetch_add(&count, 1);
    return argument;
}

static int early;

__attribute__((constructor)) static void opens_early(void) { early = open("/proc/self/cmdline", O_RDONLY); }

SELVEDGE_TEST(harmless) {
    char first = 0;
    assert(read(early, &first, 1) == 1 && first != 0);
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    FILE *nowhere = fopen("/dev/null", "w");
    assert(nowhere);
    fprintf(nowhere, "nothing");
    fclose(nowhere);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    assert(atomic_load(&count) == 2);
    assert(syscall(SYS_getpid) == getpid());
    assert(dlopen("libc.so.6", RTLD_NOW));
}
