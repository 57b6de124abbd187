// A test may register more handlers than the first table of the library holds.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static int users;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void close_all(void) { users = 0; }

static void *use(void *unused) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 40; i++)
        assert(atexit(close_all) == 0);
    users++;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(at_exit) {
    pthread_t other;
    pthread_create(&other, NULL, use, NULL);
    use(NULL);
    pthread_join(other, NULL);
    assert(users == 2);
}
