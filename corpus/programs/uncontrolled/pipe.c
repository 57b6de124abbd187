/* A read that waits for ever in the kernel. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <unistd.h>

SELVEDGE_TEST(pipe_) {
    int ends[2];
    char byte;
    assert(pipe(ends) == 0);
    assert(read(ends[0], &byte, 1) == 1);
}
