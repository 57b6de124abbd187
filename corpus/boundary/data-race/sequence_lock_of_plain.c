// A writer counts up before and after; a reader tries again. What it reads is not atomic.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <selvedge.h>

static atomic_uint sequence;
static int x, y;

static void *move(void *unused) {
    atomic_fetch_add(&sequence, 1);
    x = 1;
    y = 1;
    atomic_fetch_add(&sequence, 1);
    return unused;
}

SELVEDGE_TEST(sequence_lock_of_plain) {
    pthread_t writer;
    unsigned before;
    int seen_x, seen_y;
    pthread_create(&writer, NULL, move, NULL);
    do {
        before = sequence;
        seen_x = x;
        seen_y = y;
    } while (before % 2 == 1 || before != sequence);
    assert(seen_x == seen_y);
    pthread_join(writer, NULL);
}
