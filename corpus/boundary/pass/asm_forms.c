/* Less common forms: bits by number, bytes by condition, sums with carry, copies, a fence by a locked instruction on the stack. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void twice(void *(*work)(void *)) {
    pthread_t one, other;
    int first = 0, second = 1;
    pthread_create(&one, NULL, work, &first);
    pthread_create(&other, NULL, work, &second);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static uint64_t bitmap[3];

static void *claim(void *who) {
    uint64_t bit = 70 + *(int *)who;
    char was;
    __asm__ __volatile__("lock; btsq %2, %0; setc %1" : "+m"(bitmap), "=q"(was) : "r"(bit) : "memory", "cc");
    assert(!was);
    return NULL;
}

SELVEDGE_TEST(bits) {
    twice(claim);
    assert(bitmap[0] == 0 && bitmap[1] == 3 << 6 && bitmap[2] == 0);
}

static char was_zero[2];
static int tickets;

static void *first(void *who) {
    __asm__ __volatile__("lock; addl $1, %0; cmpl $1, %0; sete %1"
                         : "+m"(tickets), "=m"(was_zero[*(int *)who])
                         :
                         : "memory", "cc");
    return NULL;
}

SELVEDGE_TEST(conditions) {
    twice(first);
    assert(was_zero[0] || was_zero[1] || tickets == 2);
}

static char message[24], taken[24];
static atomic_int sent;

static void copy(char *to, const char *from, size_t size) {
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static void *send(void *who) {
    if (*(int *)who == 0) {
        copy(message, "copied by the processor", 24);
        atomic_store(&sent, 1);
    } else if (atomic_load(&sent)) {
        copy(taken, message, 24);
        assert(strcmp(taken, "copied by the processor") == 0);
    }
    return NULL;
}

SELVEDGE_TEST(copies) { twice(send); }

static int data;
static atomic_int flag;

static void *fence(void *who) {
    if (*(int *)who == 0) {
        data = 1;
        __asm__ __volatile__("lock; addl $0, 0(%%rsp)" : : : "memory", "cc");
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        __asm__ __volatile__("lock; addl $0, 0(%%rsp)" : : : "memory", "cc");
        assert(data == 1);
    }
    return NULL;
}

SELVEDGE_TEST(fences) { twice(fence); }
