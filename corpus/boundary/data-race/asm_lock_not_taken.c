/* A lock in assembly that is right, and one thread that does not take it. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static int held;
static long total;

static void lock(void) {
    int taken;
    do {
        taken = 1;
        __asm__ __volatile__("xchgl %0, %1" : "+r"(taken), "+m"(held) : : "memory");
    } while (taken);
}

static void unlock(void) { __asm__ __volatile__("movl $0, %0" : "=m"(held) : : "memory"); }

static void *add(void *unused) {
    lock();
    total += 5;
    unlock();
    return unused;
}

static void *print(void *result) {
    *(long *)result = total;
    return NULL;
}

SELVEDGE_TEST(the_reader_forgets_it) {
    pthread_t one, other;
    long seen;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, print, &seen);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
