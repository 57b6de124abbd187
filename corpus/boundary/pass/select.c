// select: whichever of two comes first; and the same by raw system calls.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

static int a[2], b[2];

static void *put(void *argument) {
    int *ends = argument;
    assert(syscall(SYS_write, ends[1], "x", 1) == 1);
    return NULL;
}

SELVEDGE_TEST(select_) {
    pthread_t one, two;
    int seen = 0;
    assert(syscall(SYS_pipe2, a, 0) == 0 && pipe(b) == 0);
    pthread_create(&one, NULL, put, a);
    pthread_create(&two, NULL, put, b);
    while (seen < 2) {
        fd_set set;
        char byte;
        FD_ZERO(&set);
        FD_SET(a[0], &set);
        FD_SET(b[0], &set);
        int count = select(b[0] + 1, &set, NULL, NULL, NULL);
        assert(count >= 1 && count <= 2);
        if (FD_ISSET(a[0], &set))
            seen += syscall(SYS_read, a[0], &byte, 1);
        if (FD_ISSET(b[0], &set))
            seen += read(b[0], &byte, 1);
    }
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
