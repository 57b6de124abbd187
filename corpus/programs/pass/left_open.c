/* Each run leaves a file open: what a run leaves open is no business of the next, however many there are. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>

static atomic_int count;

static void *work(void *argument) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&count, 1);
    return argument;
}

SELVEDGE_TEST(left_open) {
    static int first;
    pthread_t a, b;
    int file = open("/dev/zero", O_RDONLY);
    assert(file >= 0 && (first == 0 || first == file));
    first = file;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    work(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&count) == 9);
}
