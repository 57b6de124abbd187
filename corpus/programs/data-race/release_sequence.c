/* A store of another thread does not belong to a release sequence, nor does one that comes before the release. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static int data;
static atomic_int ready;

static void *releases(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *stores(void *unused) {
    atomic_store_explicit(&ready, 2, memory_order_relaxed);
    return unused;
}

static void *uses_what_was_stored(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
        data++;
    return unused;
}

static void *writes_after_the_release(void *unused) {
    atomic_store_explicit(&ready, 1, memory_order_release);
    data = 42;
    atomic_store_explicit(&ready, 2, memory_order_relaxed);
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

SELVEDGE_TEST(a_store_of_another) { together(releases, stores, uses_what_was_stored); }
SELVEDGE_TEST(what_comes_after_the_release) { together(writes_after_the_release, uses_what_was_stored, NULL); }
