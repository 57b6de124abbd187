// A reader finds the end when all who could write are gone, and knows what they did before.
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];
static int last;

static void *put(void *argument) {
    int own = *(int *)argument;
    assert(write(own, "x", 1) == 1);
    last = 9;
    close(own);
    return NULL;
}

SELVEDGE_TEST(end_of_file) {
    pthread_t thread;
    char byte;
    assert(pipe(ends) == 0);
    int copy = dup(ends[1]);
    assert(copy > ends[1]);
    close(ends[1]);
    pthread_create(&thread, NULL, put, &copy);
    int count = 0;
    while (read(ends[0], &byte, 1) == 1)
        count++;
    assert(count == 1 && last == 9);
    pthread_join(thread, NULL);
    close(ends[0]);
}
