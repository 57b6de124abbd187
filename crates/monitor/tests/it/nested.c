/* Right objects whose operations are called inside each other, by coroutines, in signal handlers, by threads that end in between or hand them on. None is a violation.
 * At the end two that are wrong, with operations inside others before it. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "selvedge_monitor.h"

struct item { int value; selvedge_stamp stamp; };

/* An array under a lock: a queue takes from its front, a stack from its back. */
static struct item items[1 << 16];
static int front, back, is_stack;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static selvedge_monitor *monitor;

static void fresh(int stack) {
    front = back = 0;
    is_stack = stack;
    monitor = stack ? selvedge_monitor_stack() : selvedge_monitor_queue();
}

static void put(struct item item) {
    pthread_mutex_lock(&mutex);
    items[back++] = item;
    pthread_mutex_unlock(&mutex);
}

static int take(struct item *item) {
    pthread_mutex_lock(&mutex);
    int found = front < back;
    if (found) *item = is_stack ? items[--back] : items[front++];
    pthread_mutex_unlock(&mutex);
    return found;
}

static void push(int value, int depth);

static int pop(int depth) {
    struct item item = { -1, { 0, 0 } };
    selvedge_access access = selvedge_begin(monitor);
    if (depth > 0) push(depth, depth - 1);
    int found = take(&item);
    if (depth > 1) pop(depth - 2);
    selvedge_pop_end(monitor, access, found ? &item.stamp : NULL);
    return found;
}

static void push(int value, int depth) {
    struct item item = { value, selvedge_push_begin(monitor) };
    if (depth > 0) push(value + 1, depth - 1);
    put(item);
    if (depth > 1) pop(depth - 2);
    selvedge_push_end(monitor, item.stamp);
}

static void *nest(void *argument) {
    for (int i = 0; i < 300; i++) {
        push(i, i % 4);
        pop(i % 5);
    }
    return argument;
}

static void say(const char *what) {
    selvedge_examine(monitor);
    char text[400] = "";
    unsigned long long violations = selvedge_violations(monitor);
    selvedge_violation(monitor, 0, text, sizeof text);
    printf("%s %s: %llu violations, %s unchecked%s%s\n", is_stack ? "stack" : "queue", what, violations,
           selvedge_unchecked(monitor) ? "some" : "none", *text ? ": " : "", text);
    selvedge_monitor_free(monitor);
}

static void empty(void) {
    while (pop(0)) { }
}

static void nested(int stack) {
    fresh(stack);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, nest, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    empty();
    say("nested");
}

/* Two coroutines of one thread: the first one ends first. */
static void interleaved(int stack) {
    fresh(stack);
    for (int i = 0; i < 2000; i++) {
        struct item one = { i, selvedge_push_begin(monitor) };
        struct item other = { i, selvedge_push_begin(monitor) };
        put(other);
        put(one);
        selvedge_push_end(monitor, one.stamp);
        selvedge_push_end(monitor, other.stamp);
        selvedge_access first = selvedge_begin(monitor), second = selvedge_begin(monitor);
        take(&one);
        take(&other);
        selvedge_pop_end(monitor, first, &other.stamp);
        selvedge_pop_end(monitor, second, &one.stamp);
        pop(0);
    }
    say("interleaved");
}

static struct item handed;
static selvedge_access handed_access;

static void *end_push(void *argument) {
    put(handed);
    selvedge_push_end(monitor, handed.stamp);
    return argument;
}

static void *end_pop(void *argument) {
    struct item item;
    int found = take(&item);
    selvedge_pop_end(monitor, handed_access, found ? &item.stamp : NULL);
    return argument;
}

static void elsewhere(void *(*what)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    pthread_join(thread, NULL);
}

/* What one thread begins another one ends. */
static void handed_on(int stack) {
    fresh(stack);
    for (int i = 0; i < 50; i++) {
        handed = (struct item){ i, selvedge_push_begin(monitor) };
        push(1000 + i, 0);
        elsewhere(end_push);
        push(2000 + i, 0);
        handed_access = selvedge_begin(monitor);
        pop(0);
        elsewhere(end_pop);
        pop(0);
    }
    empty();
    say("handed on");
}

static void *give_up(void *argument) {
    struct item item = { 7, selvedge_push_begin(monitor) };
    put(item);
    return argument;
}

static void *give_up_too(void *argument) {
    struct item item;
    selvedge_begin(monitor);
    take(&item);
    return argument;
}

/* Threads that end in the middle, and others that come after them. */
static void left_open(int stack) {
    fresh(stack);
    push(1, 0);
    push(2, 0);
    elsewhere(give_up_too);
    elsewhere(give_up);
    elsewhere(nest);
    empty();
    pop(0);
    say("left open");
}

/* A full object, and a value that went in without a stamp. */
static void cancelled(int stack) {
    fresh(stack);
    for (int i = 0; i < 1000; i++) {
        selvedge_push_cancel(monitor, selvedge_push_begin(monitor));
        push(i, 0);
        selvedge_cancel(monitor, selvedge_begin(monitor));
        pop(0);
    }
    pop(0);
    say("cancelled");
    fresh(stack);
    push(1, 0);
    struct item unstamped;
    memset(&unstamped, 0, sizeof unstamped);
    put(unstamped);
    pop(0);
    pop(0);
    say("unstamped");
}

/* Ended twice, and never begun: nobody knows what has happened. */
static void ended_twice(int stack) {
    fresh(stack);
    for (int i = 0; i < 20; i++) {
        struct item item = { i, selvedge_push_begin(monitor) };
        put(item);
        selvedge_push_end(monitor, item.stamp);
        selvedge_push_end(monitor, item.stamp);
        push(i, 0);
        selvedge_access access = selvedge_begin(monitor);
        take(&item);
        selvedge_pop_end(monitor, access, &item.stamp);
        selvedge_pop_end(monitor, access, NULL);
        selvedge_access none = { 0, 0 };
        take(&item);
        selvedge_pop_end(monitor, none, &item.stamp);
    }
    pop(0);
    say("ended twice");
}

/* A register that the thread and a signal handler use. */
static atomic_ullong word, next_value = 1;

static void use_register(void) {
    selvedge_access access = selvedge_begin(monitor);
    unsigned long long value = atomic_fetch_add(&next_value, 1);
    atomic_store(&word, value);
    selvedge_write_end(monitor, access, value);
    access = selvedge_begin(monitor);
    value = atomic_load(&word);
    selvedge_read_end(monitor, access, value);
}

static int uses_register;

/* The lock of the array is not taken twice by one thread. */
static void use(void) {
    static atomic_int value;
    if (uses_register) {
        use_register();
        return;
    }
    sigset_t alarm, before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    struct item item = { atomic_fetch_add(&value, 1), selvedge_push_begin(monitor) };
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    put(item);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    selvedge_push_end(monitor, item.stamp);
    selvedge_access access = selvedge_begin(monitor);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    int found = take(&item);
    if (front == back) front = back = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    selvedge_pop_end(monitor, access, found ? &item.stamp : NULL);
}

static void on_signal(int number) {
    (void)number;
    use();
}

static void interrupted(void) {
    use();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = { { 0, 150 }, { 0, 150 } };
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 50000; i++) use();
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    selvedge_examine(monitor);
    char text[400] = "";
    selvedge_violation(monitor, 0, text, sizeof text);
    printf("interrupted: %llu violations%s\n", (unsigned long long)selvedge_violations(monitor), text);
    selvedge_monitor_free(monitor);
}

int main(void) {
    for (int stack = 0; stack < 2; stack++) {
        nested(stack);
        interleaved(stack);
        handed_on(stack);
        left_open(stack);
        cancelled(stack);
        ended_twice(stack);
    }
    for (int stack = 0; stack < 2; stack++) {
        fresh(stack);
        interrupted();
    }
    uses_register = 1;
    monitor = selvedge_monitor_register(0);
    interrupted();
    /* The value below comes out first. */
    fresh(1);
    push(1, 3);
    empty();
    push(1, 0);
    push(2, 0);
    is_stack = 0;
    front = back - 2;
    pop(0);
    is_stack = 1;
    say("wrong");
    fresh(0);
    for (int i = 0; i < 10; i++) push(i, 0);
    is_stack = 1;
    pop(0);
    is_stack = 0;
    pop(0);
    say("wrong");
    return 0;
}
