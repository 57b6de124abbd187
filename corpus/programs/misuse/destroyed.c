/* What is destroyed while others use it, or used after it was destroyed. */
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stddef.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static int ready;

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void *locks(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *destroys(void *argument) {
    pthread_mutex_destroy(&mutex);
    return argument;
}

SELVEDGE_TEST(mutex_in_use) { both(locks, destroys); }

/* The lock itself orders the two. */
static void *locks_and_destroys(void *argument) {
    locks(NULL);
    pthread_mutex_destroy(&mutex);
    return argument;
}

SELVEDGE_TEST(mutex_after_destroy) { both(locks, locks_and_destroys); }
SELVEDGE_TEST(mutex_destroyed_twice) { both(destroys, destroys); }

static void *reads(void *argument) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return argument;
}

static void *writes_and_destroys(void *argument) {
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_destroy(&rwlock);
    return argument;
}

SELVEDGE_TEST(rwlock_after_destroy) { both(reads, writes_and_destroys); }

static void *waits(void *argument) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *sets_and_destroys(void *argument) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_destroy(&condition);
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(condition_waited_for) { both(waits, sets_and_destroys); }

static void *signals(void *argument) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&condition);
    return argument;
}

static void *waits_and_destroys(void *argument) {
    waits(NULL);
    pthread_cond_destroy(&condition);
    return argument;
}

SELVEDGE_TEST(condition_after_destroy) { both(signals, waits_and_destroys); }

static void *waits_with_another(void *argument) {
    pthread_mutex_lock(&other);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&other);
    return argument;
}

SELVEDGE_TEST(wait_without_the_mutex) { both(waits_with_another, signals); }

static void *arrives(void *argument) {
    pthread_barrier_wait(&barrier);
    return argument;
}

static void *destroys_barrier(void *argument) {
    pthread_barrier_destroy(&barrier);
    return argument;
}

SELVEDGE_TEST(barrier_waited_at) {
    pthread_barrier_init(&barrier, NULL, 2);
    both(arrives, destroys_barrier);
}

static void *takes(void *argument) {
    sem_wait(&semaphore);
    return argument;
}

static void *destroys_semaphore(void *argument) {
    sem_destroy(&semaphore);
    return argument;
}

SELVEDGE_TEST(semaphore_waited_for) {
    sem_init(&semaphore, 0, 0);
    both(takes, destroys_semaphore);
}

static void *posts(void *argument) {
    sem_post(&semaphore);
    return argument;
}

static void *takes_and_destroys(void *argument) {
    sem_wait(&semaphore);
    sem_destroy(&semaphore);
    return argument;
}

SELVEDGE_TEST(semaphore_after_destroy) {
    sem_init(&semaphore, 0, 1);
    both(posts, takes_and_destroys);
}

static void *spins(void *argument) {
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return argument;
}

static void *destroys_spin_lock(void *argument) {
    pthread_spin_destroy(&spin);
    return argument;
}

SELVEDGE_TEST(spin_lock_after_destroy) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    both(spins, destroys_spin_lock);
}

static void *locks_mtx(void *argument) {
    mtx_lock(&mtx);
    mtx_unlock(&mtx);
    return argument;
}

static void *destroys_mtx(void *argument) {
    mtx_destroy(&mtx);
    return argument;
}

SELVEDGE_TEST(c11_mutex_after_destroy) {
    mtx_init(&mtx, mtx_plain);
    both(locks_mtx, destroys_mtx);
}

static void *signals_cnd(void *argument) {
    cnd_signal(&cnd);
    return argument;
}

static void *destroys_cnd(void *argument) {
    cnd_destroy(&cnd);
    return argument;
}

SELVEDGE_TEST(c11_condition_after_destroy) {
    cnd_init(&cnd);
    both(signals_cnd, destroys_cnd);
}
