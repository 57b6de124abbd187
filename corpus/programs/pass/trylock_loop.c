/* Loops that try to take something until they can: however often they fail, nobody is kept from going on. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stddef.h>
#include <threads.h>

static int count;

static void both(void *(*work)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(count == 2);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *with_mutex(void *argument) {
    while (pthread_mutex_trylock(&mutex))
        sched_yield();
    count++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(mutex_trylock) { both(with_mutex); }

static pthread_spinlock_t spin;

static void *with_spin_lock(void *argument) {
    while (pthread_spin_trylock(&spin))
        sched_yield();
    count++;
    pthread_spin_unlock(&spin);
    return argument;
}

SELVEDGE_TEST(spin_trylock) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    both(with_spin_lock);
}

static mtx_t mtx;

static void *with_mtx(void *argument) {
    while (mtx_trylock(&mtx) != thrd_success)
        thrd_yield();
    count++;
    mtx_unlock(&mtx);
    return argument;
}

SELVEDGE_TEST(c11_trylock) {
    mtx_init(&mtx, mtx_plain);
    both(with_mtx);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *writes(void *argument) {
    while (pthread_rwlock_trywrlock(&rwlock))
        sched_yield();
    count++;
    pthread_rwlock_unlock(&rwlock);
    return argument;
}

SELVEDGE_TEST(rwlock_trywrlock) { both(writes); }

static void *reads(void *argument) {
    while (pthread_rwlock_tryrdlock(&rwlock))
        sched_yield();
    int seen = count;
    pthread_rwlock_unlock(&rwlock);
    assert(seen == 0 || seen == 1);
    return argument;
}

SELVEDGE_TEST(rwlock_tryrdlock) {
    pthread_t a, b;
    pthread_create(&a, NULL, writes, NULL);
    pthread_create(&b, NULL, reads, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static sem_t semaphore;

static void *with_semaphore(void *argument) {
    while (sem_trywait(&semaphore))
        sched_yield();
    count++;
    sem_post(&semaphore);
    return argument;
}

SELVEDGE_TEST(semaphore_trywait) {
    sem_init(&semaphore, 0, 1);
    both(with_semaphore);
}

static void *with_timeout(void *argument) {
    struct timespec until = {9, 0};
    while (pthread_mutex_timedlock(&mutex, &until)) {
    }
    count++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(mutex_timedlock) { both(with_timeout); }

static void *counts(void *argument) {
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(tryjoin) {
    pthread_t thread;
    pthread_create(&thread, NULL, counts, NULL);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        sched_yield();
    assert(count == 1);
}

static volatile int flag;

static void *raises(void *argument) {
    flag = 1;
    return argument;
}

SELVEDGE_TEST(volatile_flag) {
    pthread_t thread;
    pthread_create(&thread, NULL, raises, NULL);
    while (!flag) {
    }
    pthread_join(thread, NULL);
}
