/* Calls that few programs make: each is controlled, and does what it says. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const struct timespec later = {9, 0};

static void *exits(void *argument) { pthread_exit((char *)argument + 1); }

SELVEDGE_TEST(exit_with_a_result) {
    pthread_t thread;
    void *result;
    char pair[2];
    pthread_create(&thread, NULL, exits, pair);
    pthread_join(thread, &result);
    assert(result == pair + 1);
}

static int exits_too(void *argument) {
    (void)argument;
    thrd_exit(7);
}

SELVEDGE_TEST(c11_exit) {
    thrd_t thread;
    int result;
    assert(thrd_create(&thread, exits_too, NULL) == thrd_success);
    assert(thrd_join(thread, &result) == thrd_success && result == 7);
}

static atomic_int gone;

static void *goes(void *argument) {
    atomic_store(&gone, 1);
    return argument;
}

SELVEDGE_TEST(timed_join) {
    pthread_t thread;
    pthread_create(&thread, NULL, goes, NULL);
    int answer = pthread_timedjoin_np(thread, NULL, &later);
    assert(answer == 0 || answer == ETIMEDOUT);
    if (answer)
        pthread_join(thread, NULL);
    assert(atomic_load(&gone) == 1);
}

static int count;
static pthread_spinlock_t spin;

static void *spins(void *argument) {
    pthread_spin_lock(&spin);
    count++;
    pthread_spin_unlock(&spin);
    return argument;
}

SELVEDGE_TEST(spin_locks) {
    pthread_t thread;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&thread, NULL, spins, NULL);
    spins(NULL);
    pthread_join(thread, NULL);
    assert(count == 2);
    pthread_spin_destroy(&spin);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

/* Takes each for a while, if it can get it in time. */
static void *in_time(void *argument) {
    if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later) == 0) {
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

SELVEDGE_TEST(clocked_mutex) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_time, NULL);
    in_time(NULL);
    pthread_join(thread, NULL);
    assert(count == 1 || count == 2);
}

static void *writes_in_time(void *argument) {
    int answer = pthread_rwlock_timedwrlock(&rwlock, &later);
    assert(answer == 0 || answer == ETIMEDOUT);
    if (answer == 0) {
        count++;
        pthread_rwlock_unlock(&rwlock);
    }
    return argument;
}

SELVEDGE_TEST(timed_rwlock) {
    pthread_t thread;
    pthread_create(&thread, NULL, writes_in_time, NULL);
    if (pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &later) == 0) {
        assert(pthread_rwlock_timedrdlock(&rwlock, &later) == 0);
        pthread_rwlock_unlock(&rwlock);
        assert(count == 0 || count == 1);
        pthread_rwlock_unlock(&rwlock);
    }
    pthread_join(thread, NULL);
}

static void *gives(void *argument) {
    sem_post(&semaphore);
    return argument;
}

SELVEDGE_TEST(timed_semaphore) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, NULL, gives, NULL);
    int taken = sem_timedwait(&semaphore, &later) == 0;
    assert(taken || errno == ETIMEDOUT);
    taken += sem_clockwait(&semaphore, CLOCK_MONOTONIC, &later) == 0;
    pthread_join(thread, NULL);
    assert(taken <= 1);
}

static atomic_int word, other, woken;

static void *waits(void *argument) {
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    atomic_fetch_add(&woken, 1);
    return argument;
}

SELVEDGE_TEST(futex_requeue) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 0, 1, &other, 1);
    syscall(SYS_futex, &other, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(thread, NULL);
    assert(atomic_load(&woken) == 1);
}

SELVEDGE_TEST(time_passes) {
    struct timeval before, after;
    time_t began = time(NULL);
    gettimeofday(&before, NULL);
    usleep(2500000);
    gettimeofday(&after, NULL);
    assert(after.tv_sec - before.tv_sec >= 2 && time(NULL) - began >= 2);
    sleep(3);
    assert(time(NULL) - began >= 5);
    struct timespec now;
    assert(timespec_get(&now, TIME_UTC) == TIME_UTC && now.tv_sec >= began + 5);
    clock_t used = clock();
    assert(clock() > used);
    /* A loop that looks at the clock gets where it wants to. */
    while (time(NULL) < began + 10) {
    }
}

SELVEDGE_TEST(memory) {
    char *block = malloc(10), *zeroes = calloc(4, 25), *aligned = aligned_alloc(64, 128), *page = memalign(4096, 100);
    void *third = NULL;
    strcpy(block, "123456789");
    block = realloc(block, 500);
    assert(strcmp(block, "123456789") == 0);
    for (int at = 0; at < 100; at++)
        assert(zeroes[at] == 0);
    assert(posix_memalign(&third, 256, 30) == 0);
    assert((uintptr_t)aligned % 64 == 0 && (uintptr_t)page % 4096 == 0 && (uintptr_t)third % 256 == 0);
    assert(malloc_usable_size(block) >= 500);
    free(block), free(zeroes), free(aligned), free(page), free(third);
}

/* The same in every run: another number would be another run, and that is found out. */
static atomic_ulong drawn[2];

static unsigned long draw(void) {
    unsigned long number, second;
    uint64_t third;
    assert(getrandom(&number, sizeof number, 0) == sizeof number);
    assert(syscall(SYS_getrandom, &second, sizeof second, 0) == sizeof second);
    assert(getentropy(&third, sizeof third) == 0);
    return number ^ second ^ third ^ (unsigned long)rand() ^ (unsigned long)random() ^ (unsigned long)lrand48() ^
           (unsigned long)(drand48() * 1000) ^ (unsigned long)mrand48();
}

static void *draws(void *argument) {
    atomic_store(&drawn[1], draw());
    return argument;
}

SELVEDGE_TEST(chance) {
    pthread_t thread;
    pthread_create(&thread, NULL, draws, NULL);
    atomic_store(&drawn[0], draw());
    atomic_load(&drawn[1]);
    pthread_join(thread, NULL);
}
