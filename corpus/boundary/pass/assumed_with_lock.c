/* A thread whose assumption does not hold keeps its lock for ever: the others wait for it, which is no deadlock. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    selvedge_assume(turns == 1);
    turns = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(in_order) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert(turns == 2);
}
