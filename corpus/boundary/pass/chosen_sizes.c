/* Every size of a batch, chosen by the test, and who goes first: nothing is lost. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static atomic_uint sum;
static unsigned sizes[2];

static void *work(void *number) {
    unsigned size = sizes[(size_t)number] = selvedge_choose(3);
    for (unsigned i = 0; i < size; i++) atomic_fetch_add(&sum, 1);
    return NULL;
}

SELVEDGE_TEST(batches) {
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(sum == sizes[0] + sizes[1]);
}
