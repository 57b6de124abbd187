// A barrier that nobody initialised: there is no static initialiser for it.
#include <pthread.h>

#include <selvedge.h>

static pthread_barrier_t together;

static void *meet(void *unused) {
    pthread_barrier_wait(&together);
    return unused;
}

SELVEDGE_TEST(unmade_barrier) {
    pthread_t other;
    pthread_create(&other, NULL, meet, NULL);
    meet(NULL);
    pthread_join(other, NULL);
}
