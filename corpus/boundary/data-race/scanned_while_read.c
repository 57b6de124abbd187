// sscanf writes a number that another thread reads.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include <selvedge.h>

static int width, height;

static void *parse(void *text) {
    assert(sscanf(text, "%d x%d", &width, &height) == 2);
    return NULL;
}

SELVEDGE_TEST(scanned_while_read) {
    pthread_t parser;
    pthread_create(&parser, NULL, parse, "640 x480");
    int seen = height;
    pthread_join(parser, NULL);
    assert(seen == 0 || seen == 480);
}
