// A node is freed while a thread goes round a loop that looks into it, or after the loop has ended.
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    atomic_int ready;
    struct node *next;
};

static void *waits(void *argument) {
    struct node *mine = argument;
    while (!atomic_load(&mine->ready)) {
    }
    free(mine);
    return NULL;
}

SELVEDGE_TEST(touched_too_late) {
    pthread_t waiter;
    struct node *node = calloc(1, sizeof *node);
    pthread_create(&waiter, NULL, waits, node);
    atomic_store(&node->ready, 1);
    node->next = NULL;
    pthread_join(waiter, NULL);
}

SELVEDGE_TEST(freed_too_early) {
    pthread_t waiter;
    struct node *node = calloc(1, sizeof *node);
    pthread_create(&waiter, NULL, waits, node);
    free(node);
    pthread_join(waiter, NULL);
}
