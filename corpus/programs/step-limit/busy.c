/* Two threads wait for a flag that nobody sets, and count meanwhile: their loops have an effect, and still never end. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int never, rounds;

static void *await(void *argument) {
    while (!atomic_load(&never))
        atomic_fetch_add(&rounds, 1);
    return argument;
}

SELVEDGE_TEST(busy) {
    pthread_t a, b;
    pthread_create(&a, NULL, await, NULL);
    pthread_create(&b, NULL, await, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
