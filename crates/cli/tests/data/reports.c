/* Tests that take their report away, or leave no room for it, behind everybody's back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <selvedge.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* libc's own functions: the names alone are the runtime's. */
static void *own(const char *name) { return dlsym(dlopen("libc.so.6", RTLD_NOW), name); }

/* What is written beyond the limit fails, as on a disk that is full. */
static void leave_no_room(void) {
    struct rlimit limit = {64, 64};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int (*move_away)(const char *, const char *);
static char there[4096], elsewhere[4200];
__attribute__((constructor)) static void find(void) {
    const char *directory = getenv("SELVEDGE_REPORT_DIRECTORY");
    move_away = (int (*)(const char *, const char *))own("rename");
    snprintf(there, sizeof there, "%s", directory ? directory : "");
    snprintf(elsewhere, sizeof elsewhere, "%s-gone", there);
#ifdef AT_ONCE
    move_away(there, elsewhere);
#endif
#ifdef FULL
    leave_no_room();
#endif
}

SELVEDGE_TEST(removes) { move_away(there, elsewhere); }

static atomic_int n;
static void *inc(void *argument) {
    atomic_store(&n, atomic_load(&n) + 1);
    return argument;
}

SELVEDGE_TEST(full) {
    pthread_t thread;
    leave_no_room();
    pthread_create(&thread, NULL, inc, NULL);
    inc(NULL);
    pthread_join(thread, NULL);
}
SELVEDGE_TEST(passes) {}
