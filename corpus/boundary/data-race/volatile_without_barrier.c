/* Volatile orders nothing but itself: the compiler may store the flag first. A barrier behind both is too late. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static volatile int ready;
static int data;

static void *publish(void *unused) {
    data = 42;
    ready = 1;
    __asm__ __volatile__("" : : : "memory");
    return unused;
}

static void *take(void *result) {
    if (ready) {
        __asm__ __volatile__("" : : : "memory");
        *(int *)result = data;
    }
    return NULL;
}

SELVEDGE_TEST(flag) {
    int seen = 0;
    pthread_t one, other;
    pthread_create(&one, NULL, publish, NULL);
    pthread_create(&other, NULL, take, &seen);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
