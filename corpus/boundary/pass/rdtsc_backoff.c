/* Stamps what is done under a lock, and waits for some cycles before it tries. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t cycles(void) {
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static void wait(uint64_t length) {
    uint64_t until = cycles() + length;
    while (cycles() < until)
        _mm_pause();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last;

static void stamp(void) {
    pthread_mutex_lock(&mutex);
    uint64_t now = __rdtsc();
    assert(now > last);
    last = now;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *unused) {
    stamp();
    return unused;
}

SELVEDGE_TEST(stamps_grow) {
    unsigned processor;
    pthread_t one, other;
    last = __rdtscp(&processor);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *work_later(void *unused) {
    wait(1000);
    stamp();
    return unused;
}

SELVEDGE_TEST(a_wait_ends) {
    pthread_t one, other;
    pthread_create(&one, NULL, work_later, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
