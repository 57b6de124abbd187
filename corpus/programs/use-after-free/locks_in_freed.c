/* Locks, queues and semaphores that lie in memory which another thread frees. */
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

struct object {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    pthread_once_t once;
    sem_t semaphore;
    mtx_t mtx;
    cnd_t cnd;
    int ready;
};

static struct object *object;
static pthread_mutex_t outside = PTHREAD_MUTEX_INITIALIZER;

static void nothing(void) {}

static void *drops(void *argument) {
    free(object);
    return argument;
}

static void *locks(void *argument) {
    pthread_mutex_lock(&object->mutex);
    pthread_mutex_unlock(&object->mutex);
    return argument;
}

static void *tries(void *argument) {
    pthread_mutex_trylock(&object->mutex);
    return argument;
}

static void *reads(void *argument) {
    pthread_rwlock_rdlock(&object->rwlock);
    pthread_rwlock_unlock(&object->rwlock);
    return argument;
}

static void *writes(void *argument) {
    pthread_rwlock_wrlock(&object->rwlock);
    pthread_rwlock_unlock(&object->rwlock);
    return argument;
}

static void *signals(void *argument) {
    pthread_cond_signal(&object->condition);
    return argument;
}

static void *arrives(void *argument) {
    pthread_barrier_wait(&object->barrier);
    return argument;
}

static void *spins(void *argument) {
    pthread_spin_lock(&object->spin);
    pthread_spin_unlock(&object->spin);
    return argument;
}

static void *initialises(void *argument) {
    pthread_once(&object->once, nothing);
    return argument;
}

static void *posts(void *argument) {
    sem_post(&object->semaphore);
    return argument;
}

static void *takes(void *argument) {
    sem_wait(&object->semaphore);
    return argument;
}

static void *locks_mtx(void *argument) {
    mtx_lock(&object->mtx);
    mtx_unlock(&object->mtx);
    return argument;
}

static void *broadcasts_cnd(void *argument) {
    cnd_broadcast(&object->cnd);
    return argument;
}

static void *destroys(void *argument) {
    pthread_mutex_destroy(&object->mutex);
    return argument;
}

/* Whose time has passed has to leave the queue. */
static void *waits_for_a_time(void *argument) {
    struct timespec until = {5, 0};
    pthread_mutex_lock(&outside);
    pthread_cond_timedwait(&object->condition, &outside, &until);
    pthread_mutex_unlock(&outside);
    return argument;
}

static void both(void *(*uses)(void *), void *(*frees)(void *)) {
    object = malloc(sizeof *object);
    pthread_mutex_init(&object->mutex, NULL);
    pthread_rwlock_init(&object->rwlock, NULL);
    pthread_cond_init(&object->condition, NULL);
    pthread_barrier_init(&object->barrier, NULL, 1);
    pthread_spin_init(&object->spin, PTHREAD_PROCESS_PRIVATE);
    object->once = (pthread_once_t)PTHREAD_ONCE_INIT;
    sem_init(&object->semaphore, 0, 1);
    mtx_init(&object->mtx, mtx_plain);
    cnd_init(&object->cnd);
    object->ready = 0;
    pthread_t one, other;
    pthread_create(&one, NULL, uses, NULL);
    pthread_create(&other, NULL, frees, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

SELVEDGE_TEST(lock) { both(locks, drops); }
SELVEDGE_TEST(trylock) { both(tries, drops); }
SELVEDGE_TEST(rdlock) { both(reads, drops); }
SELVEDGE_TEST(wrlock) { both(writes, drops); }
SELVEDGE_TEST(cond_signal) { both(signals, drops); }
SELVEDGE_TEST(barrier_wait) { both(arrives, drops); }
SELVEDGE_TEST(spin_lock) { both(spins, drops); }
SELVEDGE_TEST(once) { both(initialises, drops); }
SELVEDGE_TEST(semaphore_post) { both(posts, drops); }
SELVEDGE_TEST(semaphore_wait) { both(takes, drops); }
SELVEDGE_TEST(c11_lock) { both(locks_mtx, drops); }
SELVEDGE_TEST(c11_broadcast) { both(broadcasts_cnd, drops); }
SELVEDGE_TEST(destroy) { both(destroys, drops); }
SELVEDGE_TEST(timed_wait) { both(waits_for_a_time, drops); }

/* The mutex itself orders the two, in each of the two ways. */
static void *drops_after_locking(void *argument) {
    pthread_mutex_lock(&object->mutex);
    pthread_mutex_unlock(&object->mutex);
    free(object);
    return argument;
}

SELVEDGE_TEST(freed_after_unlock) { both(locks, drops_after_locking); }

/* Who waits for the lock gets it from somebody who frees it. */
static void *drops_while_locked(void *argument) {
    pthread_mutex_lock(&object->mutex);
    free(object);
    return argument;
}

SELVEDGE_TEST(freed_while_locked) { both(locks, drops_while_locked); }

/* The waiter sees what it waits for, and frees, before the signal comes. */
static void *sets_and_signals(void *argument) {
    pthread_mutex_lock(&outside);
    object->ready = 1;
    pthread_mutex_unlock(&outside);
    pthread_cond_signal(&object->condition);
    return argument;
}

static void *waits_and_drops(void *argument) {
    pthread_mutex_lock(&outside);
    while (!object->ready)
        pthread_cond_wait(&object->condition, &outside);
    pthread_mutex_unlock(&outside);
    free(object);
    return argument;
}

SELVEDGE_TEST(signalled_too_late) { both(sets_and_signals, waits_and_drops); }
