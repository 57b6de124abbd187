// A thread publishes the address of its own variable and ends.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include <selvedge.h>

struct job { int progress; };

static _Atomic(struct job *) current;

static void *work(void *unused) {
    struct job own = {0};
    current = &own;
    return unused;
}

SELVEDGE_TEST(variable_of_the_ended) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    struct job *seen = current;
    if (seen)
        seen->progress = 42;
    pthread_join(worker, NULL);
}
