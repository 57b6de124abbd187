/* What another thread writes behind the part that decides is none of a comparison's business. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char shared[16] = "abc";
static volatile size_t size = sizeof shared;

static void *write_behind(void *argument) {
    shared[8] = 'x';
    return argument;
}

SELVEDGE_TEST(only_what_is_read) {
    static const char other_name[16] = "abd", same_name[16] = "abc";
    pthread_t other;
    pthread_create(&other, NULL, write_behind, NULL);
    assert(memcmp(shared, other_name, size) < 0);
    assert(strcmp(shared, same_name) == 0);
    assert(strncmp(shared, other_name, size) < 0);
    assert(strlen(shared) == 3);
    assert(memchr(shared, 'c', size) == shared + 2);
    assert(strcat(shared, "de") == shared && strcmp(shared, "abcde") == 0);
    assert(strchr(shared, 'c') == shared + 2 && strchr(shared, 'f') == NULL && strrchr(shared, 'c') == shared + 2);
    assert(strstr(shared, "cd") == shared + 2 && strstr(shared, "ce") == NULL);
    assert(strnlen(shared, 2) == 2 && strcasecmp(shared, "ABCDE") == 0);
    char *copy = strdup(shared);
    assert(strcmp(copy, "abcde") == 0);
    free(copy);
    assert(stpcpy(shared, "ab") == shared + 2 && mempcpy(shared, "AB", 2) == shared + 2);
    assert(strncat(shared, "cde", 1) == shared && strcmp(shared, "ABc") == 0);
    bzero(shared, 8);
    assert(shared[0] == 0);
    pthread_join(other, NULL);
    assert(shared[8] == 'x');
}
