/* Instructions whose answer or effect is not controlled, in inline assembly and as intrinsics. */
#include <immintrin.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static atomic_int changes;

static void *stamp(void *unused) {
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    if (low & 1)
        changes++;
    return unused;
}

static void *stamp_intrinsic(void *unused) {
    if (__rdtsc() & 1)
        changes++;
    return unused;
}

static char from[64], to[64];

static void *copy(void *unused) {
    void *target = to;
    const void *source = from;
    size_t size = sizeof to;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
    return unused;
}

static void *process(void *unused) {
    long number = 39;
    __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    if (number & 1)
        changes++;
    return unused;
}

static void beside(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    changes++;
    pthread_join(thread, NULL);
}

SELVEDGE_TEST(time_stamp) { beside(stamp); }
SELVEDGE_TEST(time_stamp_intrinsic) { beside(stamp_intrinsic); }
SELVEDGE_TEST(string_copy) { beside(copy); }
SELVEDGE_TEST(system_call) { beside(process); }
