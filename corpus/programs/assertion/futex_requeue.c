/* The word may have changed by the time that those who sleep there are moved. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint from, to;

static void *move(void *argument) {
    long moved = syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1L, &to, 0);
    assert(moved == 0);
    return argument;
}

static void *change(void *argument) {
    atomic_store(&from, 1);
    return argument;
}

SELVEDGE_TEST(futex_requeue) {
    pthread_t one, other;
    pthread_create(&one, NULL, move, NULL);
    pthread_create(&other, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
