/* A test that ends the process behind everybody's back, among others. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

/* libc's own function: the name alone is the runtime's. */
static void (*leave)(int);
__attribute__((constructor)) static void find(void) {
    leave = (void (*)(int))dlsym(dlopen("libc.so.6", RTLD_NOW), "_exit");
}
SELVEDGE_TEST(dies) { leave(0); }

static atomic_int n;
static void *inc(void *argument) {
    int v = atomic_load(&n);
    atomic_store(&n, v + 1);
    return argument;
}
SELVEDGE_TEST(loses) {
    pthread_t thread;
    atomic_store(&n, 0);
    pthread_create(&thread, NULL, inc, NULL);
    inc(NULL);
    pthread_join(thread, NULL);
    assert(atomic_load(&n) == 2);
}
SELVEDGE_TEST(passes) {}
