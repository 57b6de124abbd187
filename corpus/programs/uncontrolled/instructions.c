/* Instructions whose answer or effect is not controlled, in inline assembly. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int changes;

static void *processor(void *unused) {
    unsigned long number;
    __asm__ volatile("rdpid %0" : "=r"(number));
    if (number & 1)
        changes++;
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

SELVEDGE_TEST(number_of_processor) { beside(processor); }
SELVEDGE_TEST(system_call) { beside(process); }
