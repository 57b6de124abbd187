/* Threads that look at something under a lock until it is there. No schedule of these is a livelock: a fair scheduler lets the other one in. Where `nobody` sets it, it is one. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static sem_t semaphore;
static atomic_int word;
static int done, cells[2];

typedef void *body(void *);

static void run(int pollers, body poll, int setters, body set) {
    pthread_t threads[8];
    int count = 0;
    pthread_spin_init(&spinlock, 0);
    sem_init(&semaphore, 0, 1);
    for (int at = 0; at < pollers; at++)
        pthread_create(&threads[count++], NULL, poll, NULL);
    for (int at = 0; at < setters; at++)
        pthread_create(&threads[count++], NULL, set, (void *)(size_t)at);
    for (int at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
    assert(setters == 0 || done || cells[0]);
}

static void take_word(void) {
    while (atomic_exchange(&word, 1)) {
    }
}

#define POLLS(name, take, give, between)                                                                               \
    static void *name##_poll(void *argument) {                                                                         \
        for (int seen = 0; !seen;) {                                                                                   \
            take;                                                                                                      \
            seen = done;                                                                                               \
            give;                                                                                                      \
            between;                                                                                                   \
        }                                                                                                              \
        return argument;                                                                                               \
    }                                                                                                                  \
    SELVEDGE_TEST(name##_nobody) { run(1, name##_poll, 0, NULL); }                                                     \
    SELVEDGE_TEST(name##_two_and_nobody) { run(2, name##_poll, 0, NULL); }

#define SETS(name, take, give)                                                                                         \
    static void *name##_set(void *argument) {                                                                          \
        take;                                                                                                          \
        done = 1;                                                                                                      \
        give;                                                                                                          \
        return argument;                                                                                               \
    }                                                                                                                  \
    SELVEDGE_TEST(name) { run(1, name##_poll, 1, name##_set); }                                                        \
    SELVEDGE_TEST(name##_two_pollers) { run(2, name##_poll, 1, name##_set); }                                          \
    SELVEDGE_TEST(name##_two_setters) { run(1, name##_poll, 2, name##_set); }

POLLS(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex), )
SETS(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
SELVEDGE_TEST(mutex_three_pollers) { run(3, mutex_poll, 1, mutex_set); }
SELVEDGE_TEST(mutex_three_setters) { run(1, mutex_poll, 3, mutex_set); }

POLLS(rwlock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock), )
SETS(rwlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))

POLLS(semaphore, sem_wait(&semaphore), sem_post(&semaphore), )
SETS(semaphore, sem_wait(&semaphore), sem_post(&semaphore))

POLLS(spinlock, pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock), )
SETS(spinlock, pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock))

POLLS(yielding, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex), sched_yield())
SETS(yielding, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

POLLS(sleeping, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex), usleep(100))
SETS(sleeping, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

/* A turn of these two shows in memory, or fails without waiting, and is not recognised. */
POLLS(atomic, take_word(), atomic_store(&word, 0), )
SETS(atomic, take_word(), atomic_store(&word, 0))

/* A lock that sleeps, as those of Rust are: whoever finds it taken writes down that somebody waits. */
static void sleep_for_word(void) {
    int none = 0;
    if (atomic_compare_exchange_strong(&word, &none, 1))
        return;
    while (atomic_exchange(&word, 2))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void wake_for_word(void) {
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

POLLS(atomic_sleeping, sleep_for_word(), wake_for_word(), )
SETS(atomic_sleeping, sleep_for_word(), wake_for_word())

static void take_by_trying(void) {
    while (pthread_mutex_trylock(&mutex)) {
    }
}

POLLS(trying, take_by_trying(), pthread_mutex_unlock(&mutex), )
SETS(trying, take_by_trying(), pthread_mutex_unlock(&mutex))

static void *fill(void *argument) {
    pthread_mutex_lock(&mutex);
    cells[(size_t)argument] = 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *look_at_all(void *argument) {
    for (int full = 0; !full;) {
        pthread_mutex_lock(&mutex);
        full = 1;
        for (int at = 0; at < 2; at++)
            full &= cells[at];
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

/* A checker looks until two workers have filled an array. */
SELVEDGE_TEST(array) { run(1, look_at_all, 2, fill); }

/* It took the semaphore before, and gives it back in the turn: whoever waits for it can go in between. */
static void *gives_first(void *argument) {
    sem_wait(&semaphore);
    while (!atomic_load(&word)) {
        sem_post(&semaphore);
        sem_wait(&semaphore);
    }
    sem_post(&semaphore);
    return argument;
}

static void *set_word(void *argument) {
    sem_wait(&semaphore);
    atomic_store(&word, done = 1);
    sem_post(&semaphore);
    return argument;
}

SELVEDGE_TEST(giving_first) { run(1, gives_first, 1, set_word); }

/* One holds the lock and waits for what the other can set only under it. */
static void *holds_and_waits(void *argument) {
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&word)) {
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *sets_under_lock(void *argument) {
    pthread_mutex_lock(&mutex);
    atomic_store(&word, done = 1);
    pthread_mutex_unlock(&mutex);
    return argument;
}

SELVEDGE_TEST(holding_nobody) { run(1, holds_and_waits, 1, sets_under_lock); }

/* The time ends the loop, whatever else it reads. */
SELVEDGE_TEST(deadline) {
    time_t end = time(NULL) + 2;
    while (!atomic_load(&word) && time(NULL) < end) {
    }
}
