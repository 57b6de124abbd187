/* A stack with a version beside its top, changed together by cmpxchg16b. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
#include <stdint.h>

struct node {
    struct node *next;
    int value;
};

struct top {
    struct node *first;
    uint64_t version;
} __attribute__((aligned(16)));

static struct top top;
static struct node nodes[3];

static int exchange(struct top *at, struct top *expected, struct top desired) {
    char done;
    __asm__ __volatile__("lock; cmpxchg16b %1\n\tsete %0"
                         : "=q"(done), "+m"(*at), "+a"(expected->first), "+d"(expected->version)
                         : "b"(desired.first), "c"(desired.version)
                         : "memory", "cc");
    return done;
}

static void *load(void *from) {
    void *value;
    __asm__ __volatile__("movq %1, %0" : "=r"(value) : "m"(*(void **)from) : "memory");
    return value;
}

static void store(void *to, void *value) {
    __asm__ __volatile__("movq %1, %0" : "=m"(*(void **)to) : "r"(value) : "memory");
}

static void push(struct node *node) {
    struct top seen = {load(&top.first), (uint64_t)load(&top.version)}, desired;
    do {
        store(&node->next, seen.first);
        desired.first = node;
        desired.version = seen.version + 1;
    } while (!exchange(&top, &seen, desired));
}

static struct node *pop(void) {
    struct top seen = {load(&top.first), (uint64_t)load(&top.version)}, desired;
    do {
        if (seen.first == NULL)
            return NULL;
        desired.first = load(&seen.first->next);
        desired.version = seen.version + 1;
    } while (!exchange(&top, &seen, desired));
    return seen.first;
}

static void *take_one(void *taken) {
    *(struct node **)taken = pop();
    return NULL;
}

static void *take_two_give_one(void *taken) {
    struct node *first = pop(), *second = pop();
    if (first)
        push(first);
    *(struct node **)taken = second;
    return NULL;
}

SELVEDGE_TEST(nobody_gets_the_same) {
    pthread_t one, other;
    struct node *taken[3];
    for (int i = 2; i >= 0; i--)
        push(&nodes[i]);
    pthread_create(&one, NULL, take_one, &taken[0]);
    pthread_create(&other, NULL, take_two_give_one, &taken[1]);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    taken[2] = pop();
    assert(taken[0] != taken[1] && taken[1] != taken[2] && taken[0] != taken[2]);
}
