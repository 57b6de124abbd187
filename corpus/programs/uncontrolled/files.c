/* Files outlive the run: a test that finds what an earlier run has left there is wrong from the second run on. */
#include <assert.h>
#include <fcntl.h>
#include <selvedge.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

SELVEDGE_TEST(creates) {
    int file = open("selvedge-left-behind", O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert(file >= 0);
    close(file);
}

SELVEDGE_TEST(appends) {
    FILE *file = fopen("selvedge-left-behind", "a+");
    assert(file && ftell(file) == 0);
    fputs("x", file);
    fclose(file);
}

SELVEDGE_TEST(removes) { assert(unlink("selvedge-left-behind") != 0); }

static int early;

__attribute__((constructor)) static void opens_early(void) { early = open("/proc/self/comm", O_RDWR); }

SELVEDGE_TEST(writes_on) { assert(write(early, "x", 1) == 1); }
