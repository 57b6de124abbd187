/* A spin lock as books have it: taken by xchg, given back by a store in assembly; it waits with pause. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

typedef struct {
    int held;
} spinlock;

static inline int try_lock(spinlock *lock) {
    int taken = 1;
    __asm__ __volatile__("xchgl %0, %1" : "+r"(taken), "+m"(lock->held) : : "memory");
    return !taken;
}

static inline int is_held(spinlock *lock) {
    int held;
    __asm__ __volatile__("movl %1, %0" : "=r"(held) : "m"(lock->held) : "memory");
    return held;
}

static inline void acquire(spinlock *lock) {
    while (!try_lock(lock))
        while (is_held(lock))
            __asm__ __volatile__("pause" : : : "memory");
}

static inline void release(spinlock *lock) {
    __asm__ __volatile__("movl $0, %0" : "=m"(lock->held) : : "memory");
}

static spinlock lock;
static int balance, payments;

static void *pay(void *amount) {
    acquire(&lock);
    balance += *(int *)amount;
    payments++;
    release(&lock);
    return NULL;
}

SELVEDGE_TEST(payments_are_kept) {
    int amounts[] = {10, -3};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, pay, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(balance == 7 && payments == 2);
}
