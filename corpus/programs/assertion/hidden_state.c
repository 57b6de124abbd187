/* A thread that polls under a lock and reads on in a file meanwhile: what the stream remembers is announced by nobody, and still the loop does not only wait. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static int look(void) {
    pthread_mutex_lock(&mutex);
    int found = done;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void *set(void *argument) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(hidden_state) {
    pthread_t thread;
    FILE *file = fopen("/proc/self/cmdline", "r");
    assert(file);
    pthread_create(&thread, NULL, set, NULL);
    while (!look()) {
        fgetc(file);
        assert(ftell(file) < 4);
    }
    pthread_join(thread, NULL);
    fclose(file);
}
