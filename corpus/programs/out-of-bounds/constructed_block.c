// A write past the end of a block that a constructor allocated.
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static int *block;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void allocate(void) { block = calloc(4, sizeof *block); }

static void *body(void *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    block[4] = 1;
    pthread_mutex_unlock(&guard);
    return NULL;
}

SELVEDGE_TEST(constructed_block) {
    pthread_t other;
    pthread_create(&other, NULL, body, NULL);
    pthread_join(other, NULL);
}
