// A pattern that a constructor compiled; matching keeps state inside of it.
#include <assert.h>
#include <pthread.h>
#include <regex.h>
#include <stddef.h>

#include <selvedge.h>

static regex_t digits;
static int matches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void prepare(void) { assert(regcomp(&digits, "^[0-9]+(\\.[0-9]*)?$", REG_EXTENDED) == 0); }

static void *match(void *text) {
    regmatch_t parts[2];
    int found = regexec(&digits, text, 2, parts, 0) == 0;
    pthread_mutex_lock(&lock);
    matches += found;
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(pattern_of_posix) {
    pthread_t one, other;
    pthread_create(&one, NULL, match, "12.5");
    pthread_create(&other, NULL, match, "12,5");
    match("7");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(matches == 2);
    regfree(&digits);
}
