/* A function of libc writes what another thread reads. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char name[32];

static void *writer(void *argument) {
    (void)argument;
    snprintf(name, sizeof name, "%d", 12345);
    return 0;
}

static void *reader(void *argument) {
    (void)argument;
    char own = name[2];
    return own == 'x' ? (void *)1 : 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
