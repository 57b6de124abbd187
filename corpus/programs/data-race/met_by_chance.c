/* Two threads use the same lock, semaphore, fence, counter, barrier or condition variable, and in one order of that the first access happens before
   the second; in the other it does not. */
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

int data;
static atomic_int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void *as_reader(void *argument) {
    pthread_rwlock_rdlock(&lock);
    data = 1;
    pthread_rwlock_unlock(&lock);
    return argument;
}

SELVEDGE_TEST(two_readers) { both(as_reader, as_reader); }

static void *then_post(void *argument) {
    data = 1;
    sem_post(&semaphore);
    return argument;
}

static void *take_first(void *argument) {
    sem_wait(&semaphore);
    data = 2;
    return argument;
}

static void *try_first(void *argument) {
    if (sem_trywait(&semaphore) == 0)
        data = 2;
    return argument;
}

SELVEDGE_TEST(enough_units) {
    sem_init(&semaphore, 0, 1);
    both(then_post, take_first);
}

SELVEDGE_TEST(enough_units_to_try) {
    sem_init(&semaphore, 0, 1);
    both(then_post, try_first);
}

static void *then_fence(void *argument) {
    data = 1;
    atomic_thread_fence(memory_order_seq_cst);
    return argument;
}

static void *fence_first(void *argument) {
    atomic_thread_fence(memory_order_seq_cst);
    data = 2;
    return argument;
}

SELVEDGE_TEST(fences) { both(then_fence, fence_first); }

static void *then_count(void *argument) {
    data = 1;
    atomic_fetch_add_explicit(&counter, 1, memory_order_release);
    return argument;
}

static void *count_first(void *argument) {
    atomic_fetch_add_explicit(&counter, 1, memory_order_acquire);
    data = 2;
    return argument;
}

SELVEDGE_TEST(counters) { both(then_count, count_first); }

static void *then_signal(void *argument) {
    data = 1;
    pthread_cond_signal(&condition);
    return argument;
}

static void *signal_first(void *argument) {
    pthread_cond_signal(&condition);
    data = 2;
    return argument;
}

SELVEDGE_TEST(signals) { both(then_signal, signal_first); }

static void *then_lock(void *argument) {
    data = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *lock_first(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    data = 2;
    return argument;
}

SELVEDGE_TEST(locks) { both(then_lock, lock_first); }

static void *then_try(void *argument) {
    data = 1;
    if (pthread_rwlock_tryrdlock(&lock) == 0)
        pthread_rwlock_unlock(&lock);
    return argument;
}

static void *read_first(void *argument) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    data = 2;
    return argument;
}

SELVEDGE_TEST(readers_apart) { both(then_try, read_first); }

static void *in_between(void *argument) {
    pthread_barrier_wait(&barrier);
    data = 1;
    pthread_barrier_wait(&barrier);
    return argument;
}

SELVEDGE_TEST(barriers) {
    pthread_barrier_init(&barrier, NULL, 2);
    both(in_between, in_between);
}
