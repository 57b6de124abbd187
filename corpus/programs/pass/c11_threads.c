/* Threads, mutexes, condition variables and keys of C11. */
#include <assert.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, initialised;
static atomic_int destroyed;

static void initialise(void) { initialised = 1; }
static void destroy(void *value) { (void)value; atomic_fetch_add(&destroyed, 1); }

static int await(void *argument) {
    call_once(&flag, initialise);
    tss_set(key, &ready);
    mtx_lock(&mutex);
    while (!ready)
        cnd_wait(&condition, &mutex);
    mtx_unlock(&mutex);
    return 5 + (argument != NULL);
}

SELVEDGE_TEST(c11_threads) {
    thrd_t thread;
    int result;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&condition);
    tss_create(&key, destroy);
    thrd_create(&thread, await, NULL);
    call_once(&flag, initialise);
    assert(initialised == 1);
    mtx_lock(&mutex);
    ready = 1;
    cnd_signal(&condition);
    mtx_unlock(&mutex);
    thrd_yield();
    thrd_join(thread, &result);
    assert(result == 5 && atomic_load(&destroyed) == 1);
}
