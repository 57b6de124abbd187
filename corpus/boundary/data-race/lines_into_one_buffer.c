// Two threads read lines of different files into one buffer.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <selvedge.h>

static char line[256];

static void *first_line(void *path) {
    FILE *file = fopen(path, "r");
    assert(file && fgets(line, sizeof line, file));
    fclose(file);
    return NULL;
}

SELVEDGE_TEST(lines_into_one_buffer) {
    pthread_t other;
    pthread_create(&other, NULL, first_line, "/proc/version");
    first_line("/proc/filesystems");
    pthread_join(other, NULL);
    assert(strlen(line) > 0);
}
