/* A queue under a lock, a register and a lock, watched; the second queue gives out its second value first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "selvedge_monitor.h"

struct node { struct node *next; int value; selvedge_stamp stamp; };

static struct node *first, **last = &first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static selvedge_monitor *monitor;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    selvedge_stamp stamp = selvedge_push_begin(monitor);
    *node = (struct node){ NULL, value, stamp };
    pthread_mutex_lock(&mutex);
    *last = node;
    last = &node->next;
    pthread_mutex_unlock(&mutex);
    selvedge_push_end(monitor, stamp);
}

static int pop(int skip) {
    selvedge_access access = selvedge_begin(monitor);
    pthread_mutex_lock(&mutex);
    struct node **from = skip && first && first->next ? &first->next : &first;
    struct node *node = *from;
    if (node) {
        *from = node->next;
        if (!node->next) last = from;
    }
    pthread_mutex_unlock(&mutex);
    selvedge_pop_end(monitor, access, node ? &node->stamp : NULL);
    int value = node ? node->value : -1;
    free(node);
    return value;
}

static void *worker(void *argument) {
    for (int i = 0; i < 5000; i++) {
        push(i);
        if (i % 4) pop(0);
        pop(0);
    }
    return argument;
}

int main(void) {
    monitor = selvedge_monitor_queue();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    while (pop(0) >= 0) { }
    selvedge_examine(monitor);
    printf("right queue: %llu violations, %llu unchecked\n", (unsigned long long)selvedge_violations(monitor),
           (unsigned long long)selvedge_unchecked(monitor));
    selvedge_monitor_free(monitor);

    monitor = selvedge_monitor_queue();
    push(1);
    push(2);
    pop(1);
    pop(0);
    char text[200];
    size_t length = selvedge_violation(monitor, 0, text, sizeof text);
    printf("wrong queue: %llu violations, %llu unchecked: %s%s\n", (unsigned long long)selvedge_violations(monitor),
           (unsigned long long)selvedge_unchecked(monitor), text, length >= sizeof text ? "..." : "");
    selvedge_monitor_free(monitor);

    selvedge_monitor *reg = selvedge_monitor_register(0);
    selvedge_access access = selvedge_begin(reg);
    selvedge_write_end(reg, access, 7);
    access = selvedge_begin(reg);
    selvedge_read_end(reg, access, 0);
    selvedge_examine(reg);
    printf("wrong register: %llu violations\n", (unsigned long long)selvedge_violations(reg));
    selvedge_monitor_free(reg);

    selvedge_monitor *lock = selvedge_monitor_lock();
    selvedge_acquired(lock);
    selvedge_acquired(lock);
    selvedge_releasing(lock);
    printf("wrong lock: %llu violations\n", (unsigned long long)selvedge_violations(lock));
    selvedge_monitor_free(lock);
    selvedge_monitor_free(NULL);
    return 0;
}
