/* One thread frees what the other still reads. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *reader(void *argument) {
    (void)argument;
    int *own = shared;
    if (own)
        (void)*(volatile char *)own, own[1] = 2;
    return 0;
}

static void *owner(void *argument) {
    (void)argument;
    int *own = shared;
    shared = 0;
    free(own);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    shared = calloc(2, sizeof *shared);
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, owner, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
