// Stacks that the program switches by itself.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include <selvedge.h>

static _Thread_local ucontext_t here, there;
static _Thread_local int visits;

static void visit(void) {
    visits++;
    swapcontext(&there, &here);
}

static void *work(void *unused) {
    char *stack = malloc(64 * 1024);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 64 * 1024;
    there.uc_link = &here;
    makecontext(&there, visit, 0);
    swapcontext(&here, &there);
    assert(visits == 1);
    free(stack);
    return unused;
}

SELVEDGE_TEST(contexts) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
}
