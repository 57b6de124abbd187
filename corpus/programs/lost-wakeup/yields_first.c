/* Looks four times, giving way in between, and then sleeps; whoever sets the word wakes nobody. That the other was let go four times
   does not mean that it came to the store. */
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;

static void *set(void *argument) {
    atomic_store(&word, 1);
    return argument;
}

SELVEDGE_TEST(yields_first) {
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    for (int look = 0; look < 4 && atomic_load(&word) == 0; look++)
        sched_yield();
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    pthread_join(other, NULL);
}
