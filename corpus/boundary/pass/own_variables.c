// Values of a key that a constructor made: each thread has its own, and its end gives it back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <selvedge.h>

static _Thread_local int depth = 3;
static pthread_key_t key;
static atomic_int alive;

static void leave(void *own) {
    atomic_fetch_sub(&alive, *(int *)own);
    free(own);
}

__attribute__((constructor)) static void make_key(void) { assert(pthread_key_create(&key, leave) == 0); }

static void *enter(void *unused) {
    assert(depth++ == 3 && pthread_getspecific(key) == NULL);
    int *own = malloc(sizeof *own);
    *own = 1;
    pthread_setspecific(key, own);
    atomic_fetch_add(&alive, 1);
    return unused;
}

SELVEDGE_TEST(own_variables) {
    pthread_t one, other;
    assert(depth++ == 3 && pthread_getspecific(key) == NULL);
    pthread_create(&one, NULL, enter, NULL);
    pthread_create(&other, NULL, enter, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(alive == 0 && depth == 4);
}
