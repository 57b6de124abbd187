// Two hundred threads, each with a place of its own: more than a set of threads has bits in its first words.
// settings: {"search": "dpor"}
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

#define WORKERS 200

static atomic_int squares[WORKERS];

static void *square(void *argument) {
    long number = (long)argument;
    atomic_store(&squares[number], (int)(number * number));
    return NULL;
}

SELVEDGE_TEST(two_hundred_slots) {
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, square, (void *)i);
    for (long i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
        assert(atomic_load(&squares[i]) == i * i);
    }
}
