/* Two withdrawals of 60 from an account that holds 100, each in one step. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int balance = 100;

static void *withdraw(void *argument) {
    int amount = *(const int *)argument;
    int seen = atomic_load(&balance);
    while (seen >= amount && !atomic_compare_exchange_weak(&balance, &seen, seen - amount))
        ;
    return NULL;
}

SELVEDGE_TEST(never_overdrawn) {
    static const int sixty = 60;
    pthread_t one, other;
    pthread_create(&one, NULL, withdraw, (void *)&sixty);
    pthread_create(&other, NULL, withdraw, (void *)&sixty);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(atomic_load(&balance) == 40);
}
