/* A test that ends the process behind the back of everybody, among others. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int n;
static void *inc(void *a) { int v = atomic_load(&n); atomic_store(&n, v + 1); return a; }
SELVEDGE_TEST(dies) { syscall(SYS_exit_group, 0); }
SELVEDGE_TEST(loses) {
    pthread_t t; atomic_store(&n, 0);
    pthread_create(&t, 0, inc, 0); inc(0); pthread_join(t, 0);
    assert(atomic_load(&n) == 2);
}
SELVEDGE_TEST(passes) {}
