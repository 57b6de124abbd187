/* Updates in inline assembly that are not atomic, and a lock that is none. */
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
    __asm__ volatile("incl %0" : "+m"(counter));
    return unused;
}

SELVEDGE_TEST(update) {
    twice(add);
    assert(counter == 2);
}

static int load(int *from) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static void store(int *to, int value) { __asm__ volatile("movl %1, %0" : "=m"(*to) : "r"(value) : "memory"); }

static void *load_and_store(void *unused) {
    store(&counter, load(&counter) + 1);
    return unused;
}

SELVEDGE_TEST(load_and_store_) {
    twice(load_and_store);
    assert(counter == 2);
}

static int held;

static void *broken_lock(void *unused) {
    while (load(&held))
        __asm__ volatile("pause");
    store(&held, 1);
    store(&counter, load(&counter) + 1);
    store(&held, 0);
    return unused;
}

SELVEDGE_TEST(look_then_take) {
    twice(broken_lock);
    assert(counter == 2);
}

static void *exchange(void *unused) {
    int found = load(&counter);
    unsigned char done;
    __asm__ volatile("cmpxchgl %3, %1; sete %0"
                     : "=q"(done), "+m"(counter), "+a"(found)
                     : "r"(found + 1)
                     : "memory", "cc");
    if (!done)
        __asm__ volatile("lock; addl $1, %0" : "+m"(counter) : : "memory", "cc");
    return unused;
}

SELVEDGE_TEST(exchange_without_lock) {
    twice(exchange);
    assert(counter == 2);
}

/* A function in assembly alone. */
__asm__(".text\n"
        "add_in_assembly:\n"
        "    incl (%rdi)\n"
        "    ret\n");
void add_in_assembly(int *);

static void *call(void *unused) {
    add_in_assembly(&counter);
    return unused;
}

SELVEDGE_TEST(function) {
    twice(call);
    assert(counter == 2);
}
