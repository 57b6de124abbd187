/* Atomic updates, a lock, fences and things without effect, in inline assembly. */
#include <stdatomic.h>
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static int counter;

static void twice(void *(*work)(void *)) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *add(void *unused) {
    __asm__ volatile("lock; incl %0" : "+m"(counter) : : "memory", "cc");
    return unused;
}

SELVEDGE_TEST(update) {
    twice(add);
    assert(counter == 2);
}

static void *fetch_and_add(void *unused) {
    int more = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(more), "+m"(counter) : : "memory", "cc");
    return unused;
}

SELVEDGE_TEST(fetch_and_add_) {
    twice(fetch_and_add);
    assert(counter == 2);
}

static int exchange(int *at, int expected, int new) {
    int found = expected;
    __asm__ volatile("lock\n\tcmpxchgl %2, %1" : "+a"(found), "+m"(*at) : "r"(new) : "memory", "cc");
    return found == expected;
}

static int load(int *from) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static void *try_again(void *unused) {
    for (int seen = load(&counter); !exchange(&counter, seen, seen + 1); seen = load(&counter))
        ;
    return unused;
}

SELVEDGE_TEST(compare_and_exchange) {
    twice(try_again);
    assert(counter == 2);
}

static int held;

static void lock(void) {
    int taken;
    do {
        taken = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(held) : : "memory");
        if (taken)
            __asm__ volatile("rep; nop");
    } while (taken);
}

static void unlock(void) { __asm__ volatile("movl $0, %0" : "=m"(held) : : "memory"); }

static void *locked(void *unused) {
    lock();
    counter++;
    unlock();
    return unused;
}

SELVEDGE_TEST(exchange_lock) {
    twice(locked);
    assert(counter == 2);
}

static atomic_int ready, finished;
static int data;

static void *hand_over(void *unused) {
    if (atomic_fetch_add(&finished, 1) == 0) {
        data = 42;
        __asm__ volatile("mfence" : : : "memory");
        atomic_store_explicit(&ready, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        __asm__ volatile("lfence" : : : "memory");
        assert(data == 42);
    }
    return unused;
}

SELVEDGE_TEST(fences) { twice(hand_over); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int sum(int one, int other) {
    __asm__("addl %1, %0" : "+r"(one) : "r"(other));
    return one;
}

static void *without_effect(void *unused) {
    int own = 0;
    __asm__ volatile("" : : : "memory");
    __asm__ volatile("pause");
    __asm__ volatile("nop\n\tnop");
    __asm__ volatile("incl %0" : "+m"(own));
    pthread_mutex_lock(&mutex);
    counter = sum(counter, own);
    pthread_mutex_unlock(&mutex);
    return unused;
}

SELVEDGE_TEST(nothing) {
    twice(without_effect);
    assert(counter == 2);
}

/* How often it looks is in a register that a call would not keep. */
static void *counts(void *unused) {
    for (int i = 0; i < 40; i++)
        (void)load(&counter);
    return unused;
}

SELVEDGE_TEST(looks_often) {
    pthread_t one;
    pthread_create(&one, NULL, counts, NULL);
    pthread_join(one, NULL);
}
