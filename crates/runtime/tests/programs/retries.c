/* Operations with loops that try again, small enough for every schedule. Histories with and without recognition are compared. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    long value;
    _Atomic(struct node *) next;
};
static struct node nodes[4];
static _Atomic(struct node *) head, tail;
static atomic_long cell, other;

static void push(struct node *node) {
    selvedge_call("push", node->value);
    for (;;) {
        struct node *seen = atomic_load(&head);
        atomic_store_explicit(&node->next, seen, memory_order_relaxed);
        if (atomic_compare_exchange_strong(&head, &seen, node))
            break;
    }
    selvedge_return(0);
}

static void pop(void) {
    selvedge_call("pop", 0);
    for (;;) {
        struct node *seen = atomic_load(&head);
        if (!seen) {
            selvedge_return(0);
            return;
        }
        if (atomic_compare_exchange_strong(&head, &seen, atomic_load(&seen->next))) {
            selvedge_return(seen->value);
            return;
        }
    }
}

static void enqueue(struct node *node) {
    selvedge_call("enqueue", node->value);
    for (;;) {
        struct node *last = atomic_load(&tail), *next = atomic_load(&last->next), *none = NULL;
        if (last != atomic_load(&tail))
            continue;
        if (next)
            atomic_compare_exchange_strong(&tail, &last, next);
        else if (atomic_compare_exchange_strong(&last->next, &none, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            break;
        }
    }
    selvedge_return(0);
}

static void dequeue(void) {
    selvedge_call("dequeue", 0);
    for (;;) {
        struct node *first = atomic_load(&head), *last = atomic_load(&tail), *next = atomic_load(&first->next);
        if (first != atomic_load(&head))
            continue;
        if (first == last) {
            if (!next) {
                selvedge_return(0);
                return;
            }
            atomic_compare_exchange_strong(&tail, &last, next);
        } else {
            long value = next->value;
            if (atomic_compare_exchange_strong(&head, &first, next)) {
                selvedge_return(value);
                return;
            }
        }
    }
}

/* The failed exchange is the load of the next attempt. */
static void add(long count) {
    selvedge_call("add", count);
    long seen = atomic_load(&cell);
    while (!atomic_compare_exchange_weak(&cell, &seen, seen + count))
        ;
    selvedge_return(seen);
}

/* Two cells, read until the first has not changed meanwhile. */
static void collect(void) {
    selvedge_call("collect", 0);
    long first, second;
    do {
        first = atomic_load(&cell);
        second = atomic_load(&other);
    } while (first != atomic_load(&cell));
    selvedge_return(10 * first + second);
}

/* As `collect`, but how often it had to try is in the answer. */
static void count_attempts(void) {
    selvedge_call("count", 0);
    long first, attempts = 0;
    do {
        first = atomic_load(&cell);
        attempts++;
    } while (first != atomic_load(&cell));
    selvedge_return(attempts);
}

/* What a failed exchange found is the answer of an attempt that finds nothing. */
static void take_stale(void) {
    selvedge_call("take", 0);
    long seen = 0;
    for (;;) {
        long now = atomic_load(&cell);
        if (!now)
            break;
        seen = now;
        if (atomic_compare_exchange_strong(&cell, &seen, 0))
            break;
    }
    selvedge_return(seen);
}

static void set(long one, long two) {
    selvedge_call("set", one);
    atomic_store(&cell, one);
    atomic_store(&other, two);
    selvedge_return(0);
}

static void *pusher(void *node) { push(node); return NULL; }
static void *popper(void *none) { pop(); return none; }
static void *enqueuer(void *node) { enqueue(node); return NULL; }
static void *dequeuer(void *none) { dequeue(); return none; }
static void *adder(void *count) { add((long)count); add((long)count); return NULL; }
static void *collector(void *none) { collect(); return none; }
static void *counter(void *none) { count_attempts(); return none; }
static void *taker(void *none) { take_stale(); return none; }
static void *setter(void *none) { set(1, 1); set(2, 0); return none; }
static void *clearer(void *none) { set(2, 0); set(0, 0); return none; }

static void run(void *(*first)(void *), void *a, void *(*second)(void *), void *b) {
    pthread_t one, two;
    pthread_create(&one, NULL, first, a);
    pthread_create(&two, NULL, second, b);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void prepare(int stack) {
    for (int i = 0; i < 4; i++)
        nodes[i].value = i + 1;
    atomic_init(&nodes[0].next, &nodes[1]);
    atomic_init(&head, &nodes[0]);
    atomic_init(&tail, stack ? NULL : &nodes[1]);
}

SELVEDGE_TEST(push_pop) { prepare(1); run(pusher, &nodes[2], popper, NULL); }
SELVEDGE_TEST(push_push) { prepare(1); run(pusher, &nodes[2], pusher, &nodes[3]); }
SELVEDGE_TEST(pop_pop) { prepare(1); run(popper, NULL, popper, NULL); }
SELVEDGE_TEST(enqueue_dequeue) { prepare(0); run(enqueuer, &nodes[2], dequeuer, NULL); }
SELVEDGE_TEST(enqueue_enqueue) { prepare(0); run(enqueuer, &nodes[2], enqueuer, &nodes[3]); }
SELVEDGE_TEST(dequeue_dequeue) { prepare(0); run(dequeuer, NULL, dequeuer, NULL); }
SELVEDGE_TEST(add_add) { run(adder, (void *)1, adder, (void *)2); }
SELVEDGE_TEST(collect_set) { run(collector, NULL, setter, NULL); }
SELVEDGE_TEST(count_set) { run(counter, NULL, setter, NULL); }
SELVEDGE_TEST(take_set) { atomic_init(&cell, 1); run(taker, NULL, clearer, NULL); }
