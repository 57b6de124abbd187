/* Recursion without an end, once the other thread has run. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int flag;

static int deeper(volatile int depth) {
    /* So much that the stack ends before the number of steps is taken for a livelock. */
    volatile char room[8192];
    /* No compiler may make it smaller. */
    __asm__ volatile("" : : "r"(room) : "memory");
    room[0] = (char)depth;
    return atomic_load(&flag) ? deeper(depth + 1) + room[0] : 0;
}

static void *set(void *argument) {
    atomic_store(&flag, 1);
    return argument;
}

static void *recurse(void *argument) {
    deeper(0);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(stack_overflow) { both(set, recurse); }
