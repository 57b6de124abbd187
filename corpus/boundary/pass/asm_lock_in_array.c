/* A lock of tickets, each of which waits at a slot of its own: every look reads the plain pointer to the slots, and then the slot in inline assembly. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>

struct slot {
    unsigned taken, number;
};

static struct {
    struct slot *slots;
    unsigned mask, next;
} lock;
static int counter;

static inline unsigned load(const unsigned *from) {
    unsigned value;
    __asm__ __volatile__("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static inline void store(unsigned *to, unsigned value) {
    __asm__ __volatile__("movl %1, %0" : "=m"(*to) : "ir"(value) : "memory");
}

static inline unsigned add(unsigned *to, unsigned value) {
    __asm__ __volatile__("lock xaddl %1, %0" : "+m"(*to), "+r"(value) : : "memory", "cc");
    return value;
}

static void *work(void *none) {
    unsigned ticket = add(&lock.next, 1) & lock.mask;
    while (load(&lock.slots[ticket].taken) == 1)
        __asm__ __volatile__("pause" ::: "memory");
    store(&lock.slots[ticket].taken, 1);
    counter++;
    store(&lock.slots[(lock.slots[ticket].number + 1) & lock.mask].taken, 0);
    return none;
}

SELVEDGE_TEST(lock_in_array) {
    pthread_t threads[2];
    lock.slots = malloc(2 * sizeof *lock.slots);
    lock.mask = 1;
    for (unsigned i = 0; i < 2; i++)
        lock.slots[i] = (struct slot){.taken = i > 0, .number = i};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    free(lock.slots);
}
