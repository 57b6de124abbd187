/* A pop that answers, when the stack has become empty, what its failed exchange had found before: a local variable
   that survives the failure, and is used on one path only. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
};
static struct node nodes[2];
static _Atomic(struct node *) head;
static struct node *answer;

static struct node *pop(void) {
    struct node *seen = NULL;
    for (;;) {
        struct node *now = atomic_load(&head);
        if (!now)
            return seen;
        seen = now;
        if (atomic_compare_exchange_strong(&head, &seen, now->next))
            return now;
    }
}

static void *reader(void *argument) {
    answer = pop();
    return argument;
}

static void *writer(void *argument) {
    atomic_store(&head, &nodes[1]);
    atomic_store(&head, NULL);
    return argument;
}

SELVEDGE_TEST(answers_what_it_found_before) {
    pthread_t one, other;
    atomic_store(&head, &nodes[0]);
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&other, NULL, writer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(answer != &nodes[1]);
}
