/* Threads that wait in loops whose round is one access, and some whose round is more: how many classes of runs there are is known. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

#define MOST 4
static int counter;

static void all(int threads, void *(*work)(void *)) {
    pthread_t all[MOST];
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, work, (void *)(long)i);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}

static atomic_int flag;

static void *sees(void *argument) {
    while (!atomic_load(&flag)) {
    }
    return argument;
}

static void flag_for(int threads) {
    pthread_t all[MOST];
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, sees, NULL);
    atomic_store(&flag, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}
SELVEDGE_TEST(flag_1) { flag_for(1); }
SELVEDGE_TEST(flag_2) { flag_for(2); }
SELVEDGE_TEST(flag_3) { flag_for(3); }
SELVEDGE_TEST(flag_4) { flag_for(4); }

/* Looks are in vain with more than one value. */
static void *sees_three(void *argument) {
    while (atomic_load(&flag) != 3) {
    }
    return argument;
}
SELVEDGE_TEST(counting_flag) {
    pthread_t a, b;
    pthread_create(&a, NULL, sees_three, NULL);
    pthread_create(&b, NULL, sees_three, NULL);
    for (int i = 1; i <= 3; i++)
        atomic_store(&flag, i);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* The flag is put down again: whoever waits sees it up the first time or the second. */
SELVEDGE_TEST(flag_twice) {
    pthread_t a;
    pthread_create(&a, NULL, sees, NULL);
    atomic_store(&flag, 1);
    atomic_store(&flag, 0);
    atomic_store(&flag, 1);
    pthread_join(a, NULL);
}

static atomic_uint next, serving;

static void *takes_a_ticket(void *argument) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine) {
    }
    counter++;
    atomic_fetch_add(&serving, 1);
    return argument;
}
SELVEDGE_TEST(ticket_2) { all(2, takes_a_ticket); }
SELVEDGE_TEST(ticket_3) { all(3, takes_a_ticket); }
SELVEDGE_TEST(ticket_4) { all(4, takes_a_ticket); }

static void *takes_a_ticket_and_yields(void *argument) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine)
        sched_yield();
    counter++;
    atomic_fetch_add(&serving, 1);
    return argument;
}
SELVEDGE_TEST(ticket_yields_3) { all(3, takes_a_ticket_and_yields); }

static atomic_int taken;

static void *test_and_set(void *argument) {
    while (atomic_exchange(&taken, 1)) {
    }
    counter++;
    atomic_store(&taken, 0);
    return argument;
}
SELVEDGE_TEST(tas_2) { all(2, test_and_set); }
SELVEDGE_TEST(tas_3) { all(3, test_and_set); }

static void *exchanges(void *argument) {
    for (int free = 0; !atomic_compare_exchange_strong(&taken, &free, 1); free = 0) {
    }
    counter++;
    atomic_store(&taken, 0);
    return argument;
}
SELVEDGE_TEST(cas_2) { all(2, exchanges); }
SELVEDGE_TEST(cas_3) { all(3, exchanges); }

static void *test_and_test_and_set(void *argument) {
    do {
        while (atomic_load(&taken)) {
        }
    } while (atomic_exchange(&taken, 1));
    counter++;
    atomic_store(&taken, 0);
    return argument;
}
SELVEDGE_TEST(ttas_2) { all(2, test_and_test_and_set); }

struct waiter {
    _Atomic(struct waiter *) next;
    atomic_int waits;
};
static _Atomic(struct waiter *) last;
static struct waiter waiters[MOST];

static void *queues_up(void *argument) {
    struct waiter *me = &waiters[(long)argument];
    atomic_store(&me->waits, 1);
    struct waiter *before = atomic_exchange(&last, me);
    if (before) {
        atomic_store(&before->next, me);
        while (atomic_load(&me->waits)) {
        }
    }
    counter++;
    struct waiter *after = atomic_load(&me->next);
    if (!after) {
        struct waiter *self = me;
        if (atomic_compare_exchange_strong(&last, &self, NULL))
            return argument;
        while (!(after = atomic_load(&me->next))) {
        }
    }
    atomic_store(&after->waits, 0);
    return argument;
}
SELVEDGE_TEST(mcs_2) { all(2, queues_up); }
SELVEDGE_TEST(mcs_3) { all(3, queues_up); }
