/* Queues for the figures of operation counting: two with a bug, one that keeps the order of pairs only, and one that is right.
 *
 * -DQUEUE=torn_tail|torn_head|swapped_pairs|michael_scott
 * -DTHREADS='"ee","ee","dddd"': what each thread does, an enqueue or a dequeue a letter
 * -DUNMARKED: without marks at calls and returns */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLOTS 16

static atomic_long slots[SLOTS];
static atomic_int head, tail;

/* An enqueue reads the tail, and writes value and tail later: values get lost. One thread dequeues. */
static void torn_tail_enqueue(long value) {
    int at = atomic_load(&tail);
    atomic_store(&slots[at], value);
    atomic_store(&tail, at + 1);
}

static long torn_tail_dequeue(void) {
    static int out;
    return out < atomic_load(&tail) ? atomic_load(&slots[out++]) : 0;
}

/* A dequeue reads the head, and writes it later: values come out twice. One thread enqueues. */
static void torn_head_enqueue(long value) {
    static int in;
    atomic_store(&slots[in++], value);
    atomic_store(&tail, in);
}

static long torn_head_dequeue(void) {
    int at = atomic_load(&head);
    if (at >= atomic_load(&tail)) return 0;
    atomic_store(&head, at + 1);
    return atomic_load(&slots[at]);
}

/* An enqueue takes the other slot of a pair than the one that is its turn, and a dequeue the first full slot: one value may be overtaken by one other. One
 * thread dequeues. */
static void swapped_pairs_enqueue(long value) { atomic_store(&slots[atomic_fetch_add(&tail, 1) ^ 1], value); }

static long swapped_pairs_dequeue(void) {
    int end = (atomic_load(&tail) + 1) & ~1;
    for (int at = 0; at < end; at++) {
        long value = atomic_exchange(&slots[at], 0);
        if (value) return value;
    }
    return 0;
}

/* The queue of Michael and Scott; nodes are not given back. */
struct node {
    _Atomic(struct node *) next;
    long value;
};

static struct node nodes[32];
static _Atomic(struct node *) first, last;

static void prepare(void) {
    atomic_store(&first, &nodes[31]);
    atomic_store(&last, &nodes[31]);
}

static void michael_scott_enqueue(long value) {
    struct node *node = &nodes[value - 1], *end, *next;
    node->value = value;
    for (;;) {
        end = atomic_load(&last);
        next = atomic_load(&end->next);
        if (next) {
            atomic_compare_exchange_strong(&last, &end, next);
        } else if (atomic_compare_exchange_strong(&end->next, &next, node)) {
            atomic_compare_exchange_strong(&last, &end, node);
            return;
        }
    }
}

static long michael_scott_dequeue(void) {
    for (;;) {
        struct node *begin = atomic_load(&first), *end = atomic_load(&last), *next = atomic_load(&begin->next);
        if (!next) return 0;
        if (begin == end) {
            atomic_compare_exchange_strong(&last, &end, next);
        } else if (atomic_compare_exchange_strong(&first, &begin, next)) {
            return next->value;
        }
    }
}

#define JOIN(a, b) a##b
#define NAME(queue, operation) JOIN(queue, operation)
#ifdef UNMARKED
#define selvedge_call(name, argument) ((void)0)
#define selvedge_return(result) ((void)0)
#endif

static const char *const threads[] = {THREADS};
static const int count = sizeof threads / sizeof *threads;

static void *work(void *argument) {
    long thread = (long)argument, value = 1;
    for (long before = 0; before < thread; before++)
        for (const char *letter = threads[before]; *letter; letter++) value += *letter == 'e';
    for (const char *letter = threads[thread]; *letter; letter++) {
        if (*letter == 'e') {
            selvedge_call("enq", value);
            NAME(QUEUE, _enqueue)(value++);
            selvedge_return(0);
        } else {
            selvedge_call("deq", 0);
            long result = NAME(QUEUE, _dequeue)();
            (void)result;
            selvedge_return(result);
        }
    }
    return NULL;
}

SELVEDGE_TEST(queue) {
    pthread_t all[32];
    prepare();
    for (long i = 0; i < count; i++) pthread_create(&all[i], NULL, work, (void *)i);
    for (long i = 0; i < count; i++) pthread_join(all[i], NULL);
}
