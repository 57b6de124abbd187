// settings: {"spurious": false}
/* Waits with `if`, where nobody is to wake up without a signal. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    if (items == 0) pthread_cond_wait(&filled, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(one_item) {
    pthread_t taker;
    pthread_create(&taker, NULL, take, NULL);
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    pthread_join(taker, NULL);
}
