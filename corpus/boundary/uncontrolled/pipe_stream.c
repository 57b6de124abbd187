// A stream on a pipe: the library reads by itself.
#include <assert.h>
#include <selvedge.h>
#include <stdio.h>
#include <unistd.h>

SELVEDGE_TEST(pipe_stream) {
    int ends[2];
    assert(pipe(ends) == 0);
    FILE *stream = fdopen(ends[1], "w");
    fprintf(stream, "hello\n");
    fclose(stream);
}
