// strerror makes the text of an unknown number in a buffer of the library.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <selvedge.h>

static char first[64], second[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *ask(void *result) {
    pthread_mutex_lock(&lock);
    strcpy(result, strerror(12345));
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(error_text) {
    pthread_t other;
    pthread_create(&other, NULL, ask, first);
    ask(second);
    pthread_join(other, NULL);
    assert(strcmp(first, "Unknown error 12345") == 0);
    assert(strcmp(first, second) == 0);
}
