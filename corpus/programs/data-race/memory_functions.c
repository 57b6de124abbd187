/* Two threads fill the same buffer through the C library, without a lock. */
#include <pthread.h>
#include <selvedge.h>
#include <string.h>

static char shared[64];
static volatile size_t size = sizeof shared;

static void *fill(void *argument) {
    char mine[64];
    memset(mine, (int)(long)argument, sizeof mine);
    memcpy(shared, mine, size);
    return NULL;
}

SELVEDGE_TEST(both_copy) {
    pthread_t one, other;
    pthread_create(&one, NULL, fill, (void *)1);
    pthread_create(&other, NULL, fill, (void *)2);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
