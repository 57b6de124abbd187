/* A test that prints: libc's buffers must not lie in the memory of a run. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int turn;

static void *work(void *argument) {
    char *block = malloc(1024);
    memset(block, 'x', 1024);
    printf("turn %d", atomic_fetch_add(&turn, 1));
    fputs(" of two\n", stdout);
    for (int i = 0; i < 1024; i++)
        assert(block[i] == 'x');
    free(block);
    return argument;
}

SELVEDGE_TEST(prints) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&turn) == 2);
}
