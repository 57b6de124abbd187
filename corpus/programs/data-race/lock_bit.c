/* A lock that is one bit of a pointer, and guards plain variables. Whoever only reads them must give it back with a release, too: else what was read is
   not before the next write. (libstdc++ up to version 12 gives back so in the load of an atomic shared pointer.) */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdint.h>

extern void __tsan_mutex_pre_lock(void *, unsigned);
extern void __tsan_mutex_post_lock(void *, unsigned, int);
extern int __tsan_mutex_pre_unlock(void *, unsigned);
extern void __tsan_mutex_post_unlock(void *, unsigned);

static _Atomic uintptr_t word, another;
static int guarded;

static void lock(void) {
    uintptr_t free = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &free, 1, memory_order_acquire, memory_order_relaxed))
        free = 0;
}

static void *reads(void *argument) {
    lock();
    long seen = guarded;
    atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
    return seen ? argument : NULL;
}

static void *writes(void *argument) {
    lock();
    guarded = 1;
    atomic_store_explicit(&word, 0, memory_order_release);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

SELVEDGE_TEST(relaxed_unlock) { both(reads, writes); }

/* What is said of another lock is no excuse. */
static void *reads_and_says(void *argument) {
    lock();
    __tsan_mutex_post_lock(&another, 0, 0);
    long seen = guarded;
    __tsan_mutex_pre_unlock(&another, 0);
    atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
    return seen ? argument : NULL;
}

SELVEDGE_TEST(another_lock) { both(reads_and_says, writes); }

/* Nor is an attempt that failed. */
static void *writes_and_fails(void *argument) {
    lock();
    __tsan_mutex_post_lock(&another, 1 << 5, 0);
    guarded = 1;
    atomic_store_explicit(&word, 0, memory_order_release);
    return argument;
}

SELVEDGE_TEST(failed_attempt) { both(reads_and_says, writes_and_fails); }

/* Nor is what is said of a lock that nobody has: one may say so before the other. */
static void *says_and_gives(void *argument) {
    guarded = 1;
    __tsan_mutex_pre_unlock(&another, 0);
    return argument;
}

static void *says_and_takes(void *argument) {
    __tsan_mutex_post_lock(&another, 0, 0);
    guarded = 2;
    return argument;
}

SELVEDGE_TEST(no_lock_at_all) { both(says_and_gives, says_and_takes); }
