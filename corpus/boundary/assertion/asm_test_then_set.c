/* A lock that looks whether it is free and then takes it, in assembly: two may find it free. The counter is in assembly, too, so nothing is a data race by name. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static inline int load(const int *from) {
    int value;
    __asm__ __volatile__("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static inline void store(int *to, int value) {
    __asm__ __volatile__("movl %1, %0" : "=m"(*to) : "r"(value) : "memory");
}

static int held, inside, most;

static void *work(void *unused) {
    while (load(&held))
        __asm__ __volatile__("pause");
    store(&held, 1);
    store(&inside, load(&inside) + 1);
    if (load(&inside) > load(&most))
        store(&most, load(&inside));
    store(&inside, load(&inside) - 1);
    store(&held, 0);
    return unused;
}

SELVEDGE_TEST(one_at_a_time) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(most == 1);
}
