/* Global variables start anew in every run. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static int runs = 5;
static int zero;

SELVEDGE_TEST(globals) {
    assert(runs == 5 && zero == 0);
    runs = 6;
    zero = 1;
    int *block = malloc(100);
    block[0] = 1;
    free(block);
}
