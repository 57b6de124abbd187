// apart: library
/* Time stamps by a library that somebody else compiled. */
#ifdef APART

#include <x86intrin.h>

unsigned long long now(void) { return __rdtsc(); }

#else

#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

unsigned long long now(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long last;

static void *stamp(void *unused) {
    pthread_mutex_lock(&mutex);
    unsigned long long seen = now();
    assert(seen > last && seen - last < 1000);
    last = seen;
    pthread_mutex_unlock(&mutex);
    return unused;
}

SELVEDGE_TEST(stamps_grow) {
    pthread_t one, other;
    last = now();
    pthread_create(&one, NULL, stamp, NULL);
    pthread_create(&other, NULL, stamp, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

#endif
