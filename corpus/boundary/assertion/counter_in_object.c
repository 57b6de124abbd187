// apart: object
/* Tickets by an object that somebody else compiled, which looks and then exchanges: two get the same. */
#ifdef APART

int next(int *counter) {
    int seen = *counter;
    __atomic_exchange_n(counter, seen + 1, __ATOMIC_SEQ_CST);
    return seen;
}

#else

#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

int next(int *);

static int last, tickets[2];

static void *draw(void *ticket) {
    *(int *)ticket = next(&last);
    return NULL;
}

SELVEDGE_TEST(tickets_differ) {
    pthread_t one, other;
    pthread_create(&one, NULL, draw, &tickets[0]);
    pthread_create(&other, NULL, draw, &tickets[1]);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(tickets[0] != tickets[1]);
}

#endif
