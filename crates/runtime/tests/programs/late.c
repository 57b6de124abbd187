/* One thread does something after it has told the other to go on, and the other one does something meanwhile: what comes of it depends on
   who is first. Every search must see both orders, or none may see a difference. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct box {
    atomic_int value;
    int plain;
};

static struct box *box;
static sem_t go, other;
static atomic_int flag, one, two;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;

/* Steps that have nothing to do with the rest: between them others can go. */
#define THEN atomic_store(&one, 1);
#define ALSO atomic_store(&two, 1);

#define TEST(name, theirs, ours)                                                                                       \
    static void *thread_##name(void *argument) {                                                                       \
        sem_post(&go);                                                                                                 \
        theirs;                                                                                                        \
        return argument;                                                                                               \
    }                                                                                                                  \
    SELVEDGE_TEST(name) {                                                                                              \
        pthread_t thread;                                                                                              \
        sem_init(&go, 0, 0);                                                                                           \
        sem_init(&other, 0, 0);                                                                                        \
        pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);                                                             \
        pthread_barrier_init(&barrier, NULL, 1);                                                                       \
        box = calloc(1, sizeof *box);                                                                                  \
        pthread_create(&thread, NULL, thread_##name, NULL);                                                            \
        sem_wait(&go);                                                                                                 \
        ours;                                                                                                          \
        pthread_join(thread, NULL);                                                                                    \
    }

static int value_of(sem_t *semaphore) {
    int value;
    sem_getvalue(semaphore, &value);
    return value;
}

static void hold_mutex(void) {
    pthread_mutex_lock(&mutex);
    atomic_store(&one, 2);
    pthread_mutex_unlock(&mutex);
}

static void hold_rwlock(void) {
    pthread_rwlock_rdlock(&rwlock);
    atomic_store(&one, 2);
    pthread_rwlock_unlock(&rwlock);
}

static void hold_spin_lock(void) {
    pthread_spin_lock(&spin);
    atomic_store(&one, 2);
    pthread_spin_unlock(&spin);
}

TEST(free_and_atomic, THEN free(box), ALSO atomic_load(&box->value))
TEST(atomic_and_free, THEN atomic_load(&box->value), ALSO free(box))
TEST(plain_and_free, THEN box->plain = 1, ALSO free(box))
TEST(free_and_free, THEN free(box), ALSO if (atomic_load(&one)) free(box))
TEST(plain_and_plain, THEN box->plain = 1, ALSO if (!atomic_load(&one)) box->plain = 2)
TEST(destroys_mutex, THEN pthread_mutex_destroy(&mutex), ALSO hold_mutex())
TEST(mutex_destroyed, THEN hold_mutex(), ALSO pthread_mutex_destroy(&mutex))
TEST(mutex_renewed, THEN hold_mutex(), ALSO pthread_mutex_init(&mutex, NULL))
TEST(mutex_destroyed_twice, THEN pthread_mutex_destroy(&mutex), ALSO pthread_mutex_destroy(&mutex))
TEST(rwlock_destroyed, THEN hold_rwlock(), ALSO pthread_rwlock_destroy(&rwlock))
TEST(spin_lock_destroyed, THEN hold_spin_lock(), ALSO pthread_spin_destroy(&spin))
TEST(condition_destroyed, THEN pthread_cond_destroy(&condition), ALSO pthread_cond_signal(&condition))
TEST(barrier_renewed, THEN pthread_barrier_init(&barrier, NULL, 2), ALSO pthread_barrier_wait(&barrier))
TEST(value_and_post, THEN assert(value_of(&other) == 0), ALSO sem_post(&other))
TEST(post_and_value, THEN sem_post(&other), ALSO assert(value_of(&other) == 1))
TEST(value_and_init, THEN assert(value_of(&other) == 0), ALSO sem_init(&other, 0, 3))
TEST(init_and_try, THEN sem_init(&other, 0, 1), ALSO assert(sem_trywait(&other) == 0))
TEST(init_and_wait, THEN sem_init(&other, 0, 1), ALSO sem_wait(&other))
TEST(post_and_try, THEN sem_post(&other), ALSO assert(sem_trywait(&other) == 0))
TEST(lock_and_try, THEN hold_mutex(), ALSO assert(pthread_mutex_trylock(&mutex) == 0); pthread_mutex_unlock(&mutex))
TEST(flag_and_look, atomic_store(&flag, 1); atomic_store(&flag, 0), assert(!atomic_load(&flag)))
TEST(crash_if_flag, if (atomic_load(&flag)) abort(), atomic_store(&flag, 1); atomic_store(&flag, 0))
TEST(exit_if_flag, THEN if (atomic_load(&two)) exit(3), ALSO)

static void *late(void *argument) {
    sem_post(&go);
    atomic_store(&flag, 1);
    return argument;
}

SELVEDGE_TEST(left_over) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, NULL, late, NULL);
    pthread_detach(thread);
    sem_wait(&go);
}

SELVEDGE_TEST(left_over_and_not_detached) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, NULL, late, NULL);
    sem_wait(&go);
}

SELVEDGE_TEST(tries_to_join) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, NULL, late, NULL);
    sem_wait(&go);
    int answer = pthread_tryjoin_np(thread, NULL);
    if (answer)
        pthread_join(thread, NULL);
    assert(answer == 0);
}

static atomic_int counted;
static pthread_key_t key;

static void count(void *value) {
    (void)value;
    atomic_fetch_add(&counted, 1);
}

static void *keeps(void *argument) {
    pthread_setspecific(key, &counted);
    sem_post(&go);
    return argument;
}

SELVEDGE_TEST(destructor_of_a_key) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_key_create(&key, count);
    pthread_create(&thread, NULL, keeps, NULL);
    sem_wait(&go);
    assert(atomic_load(&counted) == 1);
    pthread_join(thread, NULL);
}
