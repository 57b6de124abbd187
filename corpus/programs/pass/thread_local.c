/* Thread-local variables and keys belong to each thread, in every run anew. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static __thread int mine;
static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value) {
    assert(value == &mine);
    atomic_fetch_add(&destroyed, 1);
}

static void *use(void *argument) {
    assert(mine == 0);
    mine = (int)(size_t)argument;
    pthread_setspecific(key, &mine);
    atomic_fetch_add(&destroyed, 0);
    assert(mine == (int)(size_t)argument);
    assert(pthread_getspecific(key) == &mine);
    return NULL;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(thread_local) {
    assert(mine == 0);
    mine = 9;
    pthread_key_create(&key, destroy);
    both(use, use);
    assert(atomic_load(&destroyed) == 2 && mine == 9);
}
