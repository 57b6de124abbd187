// A thread that nobody waits for, where that is allowed: it ends, or waits for ever.
// settings: {"leaks": "allow"}
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int done;

static void *wait(void *unused) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&done))
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *work(void *unused) {
    atomic_fetch_add(&done, 0);
    return unused;
}

SELVEDGE_TEST(left_over) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, wait, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
}
