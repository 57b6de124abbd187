// Questions to the system that programs ask when they begin.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long processors;

static void *ask(void *unused) {
    char name[16];
    pthread_setname_np(pthread_self(), "asker");
    pthread_getname_np(pthread_self(), name, sizeof name);
    pthread_mutex_lock(&lock);
    processors += sysconf(_SC_NPROCESSORS_ONLN);
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(about_the_system) {
    pthread_attr_t small;
    pthread_t other;
    struct rlimit limit;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    assert(pthread_create(&other, &small, ask, NULL) == 0);
    pthread_attr_destroy(&small);
    assert(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0);
    assert(getpid() > 0 && sysconf(_SC_PAGESIZE) == 4096 && getenv("PATH"));
    assert(!pthread_equal(other, pthread_self()));
    ask(NULL);
    pthread_join(other, NULL);
    assert(processors >= 2);
}
