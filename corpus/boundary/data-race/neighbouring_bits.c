// Bit-fields that lie side by side are one memory location.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static struct { unsigned ready : 1, failed : 1; } flags;

static void *fail(void *unused) {
    flags.failed = 1;
    return unused;
}

SELVEDGE_TEST(neighbouring_bits) {
    pthread_t other;
    pthread_create(&other, NULL, fail, NULL);
    flags.ready = 1;
    pthread_join(other, NULL);
    assert(flags.ready && flags.failed);
}
