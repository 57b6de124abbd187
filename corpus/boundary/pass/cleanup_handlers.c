// A thread that leaves early gives its lock back in a handler.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int passed;

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }

static void visit(int leaves) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    passed++;
    if (leaves)
        pthread_exit((void *)7);
    pthread_cleanup_pop(1);
}

static void *work(void *leaves) {
    visit(leaves != NULL);
    return NULL;
}

SELVEDGE_TEST(cleanup_handlers) {
    pthread_t one, other;
    void *result;
    pthread_create(&one, NULL, work, &lock);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, &result);
    assert(result == (void *)7);
    pthread_join(other, &result);
    assert(result == NULL && passed == 2);
}
