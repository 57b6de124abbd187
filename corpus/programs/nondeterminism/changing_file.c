/* The number of steps comes from a file that is different each time; never so few that no order is left to explore. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <fcntl.h>
#include <unistd.h>
static atomic_int cell;

static void *work(void *argument) {
    unsigned char byte = 0;
    int file = open("/proc/sys/kernel/random/uuid", O_RDONLY);
    assert(read(file, &byte, 1) == 1);
    close(file);
    for (int i = 0; i < 16 + byte % 48; i++)
        atomic_fetch_add(&cell, 1);
    return argument;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, (void *)1);
    pthread_create(&b, NULL, second, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

SELVEDGE_TEST(changing_file) { both(work, work); }
