// setjmp and longjmp stay inside of a thread.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int failures;

static void fail(jmp_buf *handler) { longjmp(*handler, 3); }

static void *work(void *unused) {
    jmp_buf handler;
    int code = setjmp(handler);
    if (code == 0)
        fail(&handler);
    pthread_mutex_lock(&lock);
    failures += code;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(jumps_back) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    assert(failures == 6);
}
