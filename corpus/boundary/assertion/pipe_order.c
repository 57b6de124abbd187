// Two threads write to a pipe, and the test takes for granted who comes first.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

static void *put(void *letter) {
    assert(write(ends[1], letter, 1) == 1);
    return NULL;
}

SELVEDGE_TEST(pipe_order) {
    pthread_t a, b;
    char first;
    assert(pipe(ends) == 0);
    pthread_create(&a, NULL, put, "a");
    pthread_create(&b, NULL, put, "b");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(read(ends[0], &first, 1) == 1);
    assert(first == 'a');
    close(ends[0]);
    close(ends[1]);
}
