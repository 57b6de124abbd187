/* What a plain flag seems to order races too: the flag is no lock. */
#include <assert.h>
#include <pthread.h>

static int turn, first, second;

static void *writer(void *argument) {
    (void)argument;
    first = 1;
    turn = 1;
    second = 1;
    return 0;
}

static void *reader(void *argument) {
    (void)argument;
    int seen = second;
    if (turn == 1)
        assert(first == 1 && seen == 1); /* `seen` may be older than the flag */
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
