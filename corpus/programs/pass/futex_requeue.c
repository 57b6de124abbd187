/* Threads that sleep at a word are moved to another: the word is compared when they are, and one whose time passes leaves the queue
   that it was moved to. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_uint from, to;
static int data, slept;
static const struct timespec second = {1, 0};

static long wait_at(atomic_uint *word, unsigned expected, const struct timespec *time) {
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, time, NULL, 0);
}

static long wake_at(atomic_uint *word) { return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

/* Moves one who sleeps, if the word is still 0. */
static long move(void) { return syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1L, &to, 0); }

static void *change_and_sleep(void *argument) {
    atomic_store(&from, 1);
    wait_at(&from, 1, &second);
    return argument;
}

SELVEDGE_TEST(compared_when_moved) {
    pthread_t thread;
    pthread_create(&thread, NULL, change_and_sleep, NULL);
    /* Whoever sleeps has changed the word before. */
    assert(move() <= 0);
    pthread_join(thread, NULL);
}

static void *sleep_for_a_time(void *argument) {
    slept = wait_at(&from, 0, &second) == 0;
    return argument;
}

SELVEDGE_TEST(leaves_where_it_was_moved) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_for_a_time, NULL);
    long moved = move();
    long woken = wake_at(&to);
    assert(woken <= moved);
    pthread_join(thread, NULL);
    assert(slept == woken);
    assert(wake_at(&from) == 0 && wake_at(&to) == 0);
}

static void *sleep_and_read(void *argument) {
    if (wait_at(&from, 0, &second) == 0)
        assert(data == 1);
    return argument;
}

SELVEDGE_TEST(woken_where_it_was_moved) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_and_read, NULL);
    move();
    data = 1;
    wake_at(&to);
    pthread_join(thread, NULL);
}

static void *sleep_for_a_bit(void *argument) {
    slept = syscall(SYS_futex, &from, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 1) == 0;
    return argument;
}

SELVEDGE_TEST(woken_by_its_bits) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_for_a_bit, NULL);
    long other = syscall(SYS_futex, &from, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 2);
    assert(other == 0);
    atomic_store(&from, 1);
    wake_at(&from);
    pthread_join(thread, NULL);
}
