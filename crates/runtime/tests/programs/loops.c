/* Loops whose rounds all differ. `polite` has a fair run without an end, the others have none. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[3];

static void run(void *(*first)(void *), void *(*second)(void *)) {
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *counts(void *argument) {
    int tries = 0;
    while (pthread_mutex_trylock(&one)) {
        tries++;
        sched_yield();
    }
    assert(tries >= 0);
    pthread_mutex_unlock(&one);
    return argument;
}

SELVEDGE_TEST(counting) { run(counts, counts); }

static void *looks(void *argument) {
    struct timespec until;
    do {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
    } while (pthread_mutex_timedlock(&one, &until));
    pthread_mutex_unlock(&one);
    return argument;
}

SELVEDGE_TEST(looking_at_the_clock) { run(looks, looks); }

static int ready;

static void *polls(void *argument) {
    struct timespec little = {0, 1000};
    for (int seen = 0; !seen; nanosleep(&little, NULL)) {
        pthread_mutex_lock(&one);
        seen = ready;
        pthread_mutex_unlock(&one);
    }
    return argument;
}

static void *readies(void *argument) {
    pthread_mutex_lock(&one);
    ready = 1;
    pthread_mutex_unlock(&one);
    return argument;
}

SELVEDGE_TEST(polling) { run(polls, readies); }

static atomic_int turn, stop;

static void *plays(void *argument) {
    int mine = argument != NULL;
    while (!atomic_load(&stop))
        if (atomic_load(&turn) == mine)
            atomic_store(&turn, !mine);
    return NULL;
}

static void *stops(void *argument) {
    atomic_store(&stop, 1);
    return argument;
}

/* Two take turns for ever, unless the third, which comes last, has its turn. */
SELVEDGE_TEST(taking_turns) {
    pthread_create(&threads[0], NULL, plays, NULL);
    pthread_create(&threads[1], NULL, plays, &turn);
    pthread_create(&threads[2], NULL, stops, NULL);
    for (int at = 0; at < 3; at++)
        pthread_join(threads[at], NULL);
}

static void back_off(pthread_mutex_t *mine, pthread_mutex_t *other) {
    for (;;) {
        pthread_mutex_lock(mine);
        if (!pthread_mutex_trylock(other))
            break;
        pthread_mutex_unlock(mine);
        sched_yield();
    }
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(mine);
}

static void *gives_way(void *argument) {
    back_off(&one, &two);
    return argument;
}

static void *gives_way_too(void *argument) {
    back_off(&two, &one);
    return argument;
}

/* Each gives back what it has when the other has what it wants: both may do so for ever. */
SELVEDGE_TEST(polite) { run(gives_way, gives_way_too); }
