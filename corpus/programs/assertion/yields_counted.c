/* Gives way four times and takes it for granted that the other has come to its store by then. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int word;

static void *set(void *argument) {
    atomic_store(&word, 1);
    return argument;
}

SELVEDGE_TEST(yields_counted) {
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    int looks = 0;
    for (; looks < 4 && atomic_load(&word) == 0; looks++)
        sched_yield();
    assert(looks < 4);
    pthread_join(other, NULL);
}
