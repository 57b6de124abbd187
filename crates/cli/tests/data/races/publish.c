/* Data is published by a plain flag, in the right order. */
#include <assert.h>
#include <pthread.h>
static int data, ready;
static void *writer(void *a) { (void)a; data = 42; ready = 1; return 0; }
static void *reader(void *a) { (void)a; if (ready) assert(data == 42); return 0; }
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, reader, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
