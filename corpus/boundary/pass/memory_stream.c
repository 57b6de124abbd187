// Two threads write lines to one stream, which has a lock of its own.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <selvedge.h>

static FILE *record;

static void *work(void *name) {
    fprintf(record, "%s\n", (const char *)name);
    return NULL;
}

SELVEDGE_TEST(memory_stream) {
    pthread_t one, other;
    char *text;
    size_t size;
    record = open_memstream(&text, &size);
    pthread_create(&one, NULL, work, "one");
    pthread_create(&other, NULL, work, "other");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    fclose(record);
    assert(size == strlen("one\nother\n"));
    assert(strcmp(text, "one\nother\n") == 0 || strcmp(text, "other\none\n") == 0);
    free(text);
}
