// main ends by pthread_exit: the process goes on until the last thread has ended.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turns;

static void *work(void *unused) {
    int turn = atomic_fetch_add(&turns, 1);
    assert(turn < 2);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    pthread_exit(NULL);
}
