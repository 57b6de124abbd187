/* A lock that is one bit of a pointer, and guards plain variables: given back with a release, or by code that says what its lock is. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdint.h>

extern void __tsan_mutex_pre_lock(void *, unsigned);
extern void __tsan_mutex_post_lock(void *, unsigned, int);
extern int __tsan_mutex_pre_unlock(void *, unsigned);
extern void __tsan_mutex_post_unlock(void *, unsigned);

static _Atomic uintptr_t word;
static int guarded, beside;

static void lock(void) {
    uintptr_t free = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &free, 1, memory_order_acquire, memory_order_relaxed))
        free = 0;
}

static void *reads(void *argument) {
    lock();
    long seen = guarded;
    atomic_fetch_sub_explicit(&word, 1, memory_order_release);
    return seen ? argument : NULL;
}

static void *writes(void *argument) {
    lock();
    guarded++;
    atomic_fetch_sub_explicit(&word, 1, memory_order_release);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

SELVEDGE_TEST(release_unlock) { both(reads, writes); }
SELVEDGE_TEST(writers) {
    both(writes, writes);
    assert(guarded == 2);
}

static void *says_and_reads(void *argument) {
    __tsan_mutex_pre_lock(&word, 0);
    lock();
    __tsan_mutex_post_lock(&word, 0, 0);
    long seen = guarded;
    __tsan_mutex_pre_unlock(&word, 0);
    atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
    __tsan_mutex_post_unlock(&word, 0);
    return seen ? argument : NULL;
}

static void *says_and_writes(void *argument) {
    __tsan_mutex_pre_lock(&word, 0);
    lock();
    __tsan_mutex_post_lock(&word, 0, 0);
    guarded = 1;
    __tsan_mutex_pre_unlock(&word, 0);
    atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
    __tsan_mutex_post_unlock(&word, 0);
    return argument;
}

SELVEDGE_TEST(annotated) { both(says_and_reads, says_and_writes); }

/* One who does not touch what is guarded may give back with a relaxed access: what was released before it is still there for the next. */
static void *looks_beside(void *argument) {
    lock();
    atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
    return argument;
}

SELVEDGE_TEST(relaxed_in_between) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writes, NULL);
    pthread_create(&threads[1], NULL, looks_beside, NULL);
    pthread_create(&threads[2], NULL, writes, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(guarded == 2 && beside == 0);
}
