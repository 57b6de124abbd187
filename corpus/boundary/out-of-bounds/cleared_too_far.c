// A constant size that is not that of the block.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <selvedge.h>

static void *clear(void *block) {
    memset(block, 0, 100000);
    return NULL;
}

SELVEDGE_TEST(cleared_too_far) {
    char *block = malloc(16);
    pthread_t other;
    pthread_create(&other, NULL, clear, block);
    pthread_join(other, NULL);
    free(block);
}
