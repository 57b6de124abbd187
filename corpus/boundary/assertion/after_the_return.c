// Nobody waits for the thread that spends the money; whether it may is asked by that thread only.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static atomic_int balance = 100;

static void *spend(void *unused) {
    int before = atomic_load(&balance);
    atomic_fetch_sub(&balance, 100);
    assert(before == 100);
    return unused;
}

SELVEDGE_TEST(after_the_return) {
    pthread_t spender;
    pthread_create(&spender, NULL, spend, NULL);
    atomic_store(&balance, 50);
}
