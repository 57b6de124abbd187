// A logger waits for the next line when the test returns.
#include <pthread.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lines, written;

static void *logger(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (written == lines)
            pthread_cond_wait(&changed, &lock);
        written++;
    }
    return unused;
}

SELVEDGE_TEST(logs) {
    pthread_t thread;
    pthread_create(&thread, NULL, logger, NULL);
    pthread_mutex_lock(&lock);
    lines++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}
