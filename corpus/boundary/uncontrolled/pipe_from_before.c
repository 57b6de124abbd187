// A pipe that was opened before the search.
#include <assert.h>
#include <selvedge.h>
#include <unistd.h>

static int ends[2];

__attribute__((constructor)) static void begin(void) {
    assert(pipe(ends) == 0);
}

SELVEDGE_TEST(pipe_from_before) {
    char byte;
    assert(write(ends[1], "x", 1) == 1);
    assert(read(ends[0], &byte, 1) == 1);
}
