/* Two withdrawals of 60 from an account that holds 100. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int balance = 100;

static void *withdraw(void *argument) {
    int amount = *(const int *)argument;
    if (atomic_load(&balance) >= amount)
        atomic_fetch_sub(&balance, amount);
    return NULL;
}

SELVEDGE_TEST(never_overdrawn) {
    static const int sixty = 60;
    pthread_t one, other;
    pthread_create(&one, NULL, withdraw, (void *)&sixty);
    pthread_create(&other, NULL, withdraw, (void *)&sixty);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(atomic_load(&balance) >= 0);
}
