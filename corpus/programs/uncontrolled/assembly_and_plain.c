/* A lock that is taken in assembly and given back by a plain store: the language does not say what that store means to others. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static int lock, count;

static void *work(void *argument) {
    int taken = 1;
    while (taken)
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(lock) : : "memory");
    count++;
    __asm__ volatile("" : : : "memory");
    lock = 0;
    return argument;
}

SELVEDGE_TEST(assembly_and_plain) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    assert(count == 2);
}
