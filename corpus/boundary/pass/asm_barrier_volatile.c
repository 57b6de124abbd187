/* Handed over as the Linux kernel and liburcu do: a volatile store behind a barrier that is no instruction, and a volatile load before one. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

#define ACCESS_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define barrier() __asm__ __volatile__("" : : : "memory")

static int ready, data;

static void *publish(void *unused) {
    data = 42;
    barrier();
    ACCESS_ONCE(ready) = 1;
    return unused;
}

static void *take(void *unused) {
    while (!ACCESS_ONCE(ready))
        __asm__ __volatile__("rep; nop" : : : "memory");
    barrier();
    assert(data == 42);
    return unused;
}

SELVEDGE_TEST(flag) {
    pthread_t one, other;
    pthread_create(&one, NULL, publish, NULL);
    pthread_create(&other, NULL, take, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

struct item {
    int value;
};
static struct item item, *published;

static void *publish_item(void *unused) {
    item.value = 42;
    barrier();
    ACCESS_ONCE(published) = &item;
    return unused;
}

/* What is reached by the pointer comes behind it. */
static void *take_item(void *unused) {
    struct item *seen = ACCESS_ONCE(published);
    if (seen)
        assert(seen->value == 42);
    return unused;
}

SELVEDGE_TEST(pointer) {
    pthread_t one, other;
    pthread_create(&one, NULL, publish_item, NULL);
    pthread_create(&other, NULL, take_item, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
