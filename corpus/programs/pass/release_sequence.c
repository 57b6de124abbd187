/* A later store of the thread that released belongs to the release sequence, in C11 and C17; so does an update by anybody. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static int data;
static atomic_int ready;

static void *stores_again(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    atomic_store_explicit(&ready, 2, memory_order_relaxed);
    atomic_store_explicit(&ready, 3, memory_order_relaxed);
    return unused;
}

static void *uses(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire) >= 2)
        assert(data == 42);
    return unused;
}

static void *updates(void *unused) {
    atomic_fetch_add_explicit(&ready, 4, memory_order_relaxed);
    return unused;
}

static void *releases_by_update(void *unused) {
    data = 42;
    atomic_fetch_add_explicit(&ready, 1, memory_order_release);
    atomic_store_explicit(&ready, 2, memory_order_relaxed);
    return unused;
}

static void *uses_two(void *unused) {
    int seen = atomic_load_explicit(&ready, memory_order_acquire);
    if (seen == 2 || seen == 6)
        assert(data == 42);
    return unused;
}

static void together(void *(*one)(void *), void *(*other)(void *), void *(*third)(void *)) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    if (third)
        pthread_create(&threads[2], NULL, third, NULL);
    for (int i = 0; i < (third ? 3 : 2); i++)
        pthread_join(threads[i], NULL);
}

SELVEDGE_TEST(later_stores) { together(stores_again, uses, NULL); }
SELVEDGE_TEST(an_update_of_another_in_between) { together(releases_by_update, uses_two, updates); }
