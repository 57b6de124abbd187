// The atomic builtins that are older than C11.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static int lock, total;
static long tickets;

static void *add(void *unused) {
    while (__sync_lock_test_and_set(&lock, 1))
        ;
    total++;
    __sync_lock_release(&lock);
    __sync_fetch_and_add(&tickets, 2);
    return unused;
}

SELVEDGE_TEST(old_builtins) {
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    assert(total == 2 && __sync_bool_compare_and_swap(&tickets, 4, 0));
}
