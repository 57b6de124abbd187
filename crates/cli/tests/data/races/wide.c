/* A structure of three words that two threads copy without a lock: it may be torn. */
#include <assert.h>
#include <pthread.h>

struct three {
    long a, b, c;
};
static struct three shared;

static void *writer(void *argument) {
    struct three own = {1, 1, 1};
    (void)argument;
    shared = own;
    return 0;
}

static void *reader(void *argument) {
    struct three own = shared;
    (void)argument;
    assert(own.a >= 0 && own.b >= 0 && own.c >= 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
