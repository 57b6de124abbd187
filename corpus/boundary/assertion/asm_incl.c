/* Statistics that somebody made fast in assembly, and forgot the prefix. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

struct statistics {
    long requests, errors;
};

static struct statistics statistics;

static inline void count(long *counter) { __asm__ __volatile__("incq %0" : "+m"(*counter) : : "cc"); }

static void *serve(void *failed) {
    count(&statistics.requests);
    if (failed)
        count(&statistics.errors);
    return NULL;
}

SELVEDGE_TEST(requests_are_counted) {
    pthread_t one, other;
    pthread_create(&one, NULL, serve, NULL);
    pthread_create(&other, NULL, serve, &one);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(statistics.requests == 2 && statistics.errors == 1);
}
