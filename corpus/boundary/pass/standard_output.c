// Text in the buffer of stdout, and how it is buffered, are those of the beginning in every run.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include <selvedge.h>

static int printed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char room[256];

static void *say(void *name) {
    pthread_mutex_lock(&lock);
    printed += printf("%s", (const char *)name);
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(standard_output) {
    pthread_t other;
    setvbuf(stdout, room, _IOFBF, sizeof room);
    pthread_create(&other, NULL, say, "half a ");
    say("line ");
    pthread_join(other, NULL);
    assert(printed == 12);
}
