/* Readers see both halves of what a writer writes. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int first, second;

static void *write_both(void *argument) {
    pthread_rwlock_wrlock(&lock);
    first++;
    second++;
    pthread_rwlock_unlock(&lock);
    return argument;
}

static void *read_both(void *argument) {
    pthread_rwlock_rdlock(&lock);
    assert(first == second);
    pthread_rwlock_unlock(&lock);
    return argument;
}

SELVEDGE_TEST(rwlock) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, read_both, NULL);
    pthread_create(&b, NULL, write_both, NULL);
    pthread_create(&c, NULL, read_both, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
}
