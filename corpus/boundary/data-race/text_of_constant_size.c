// A short constant text is copied into a shared buffer while another thread reads it.
#include <pthread.h>
#include <string.h>

#include <selvedge.h>

static char state[8] = "idle";

static void *watch(void *busy) {
    *(int *)busy = strcmp(state, "busy") == 0;
    return NULL;
}

SELVEDGE_TEST(text_of_constant_size) {
    pthread_t watcher;
    int busy;
    pthread_create(&watcher, NULL, watch, &busy);
    strcpy(state, "busy");
    pthread_join(watcher, NULL);
}
