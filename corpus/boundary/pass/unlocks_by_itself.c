// Extensions of gcc: a variable that gives its lock back, a value of a block.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void unlock(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }

#define GUARDED(mutex) __attribute__((cleanup(unlock))) pthread_mutex_t *guard = ({ pthread_mutex_lock(mutex); mutex; })

static void *add(void *unused) {
    GUARDED(&lock);
    total += 2;
    return unused;
}

SELVEDGE_TEST(unlocks_by_itself) {
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    assert(total == 4);
}
