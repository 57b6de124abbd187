/* Two threads fill the same buffer through the C library, without a lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char shared[64];
static volatile size_t size = sizeof shared;

static void *fill(void *argument) {
    char mine[64];
    memset(mine, (int)(long)argument, sizeof mine);
    memcpy(shared, mine, size);
    return NULL;
}

SELVEDGE_TEST(both_copy) {
    pthread_t one, other;
    pthread_create(&one, NULL, fill, (void *)1);
    pthread_create(&other, NULL, fill, (void *)2);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *rename_it(void *argument) {
    shared[3] = 'x';
    return argument;
}

#define RACE(NAME, READS)                                                                                                      \
    SELVEDGE_TEST(NAME) {                                                                                                      \
        static char mine[64] = "abcdef";                                                                                       \
        pthread_t other;                                                                                                       \
        memcpy(shared, mine, size);                                                                                            \
        pthread_create(&other, NULL, rename_it, NULL);                                                                         \
        READS;                                                                                                                 \
        pthread_join(other, NULL);                                                                                             \
    }

RACE(compares, (void)(size = memcmp(shared, mine, size)))
RACE(compares_strings, (void)(size = strcmp(shared, mine)))
RACE(compares_beginnings, (void)(size = strncmp(shared, mine, size)))
RACE(asks_for_the_length, (void)(size = strlen(shared)))
RACE(looks_for_a_byte, (void)(size = memchr(shared, 'e', size) != NULL))
RACE(copies_a_beginning, (void)strncpy(mine, shared, size))
RACE(appends, (void)strcat(shared, "g"))
RACE(appends_a_beginning, (void)strncat(shared, "gh", 1))
RACE(looks_for_a_letter, (void)(size = strchr(shared, 'e') != NULL))
RACE(looks_for_the_last_letter, (void)(size = strrchr(shared, 'e') != NULL))
RACE(looks_for_a_word, (void)(size = strstr(shared, "ef") != NULL))
RACE(asks_for_some_length, (void)(size = strnlen(shared, size)))
RACE(compares_letters, (void)(size = strcasecmp(shared, mine)))
RACE(duplicates, free(strdup(shared)))
RACE(copies_to_the_end, (void)stpcpy(shared, "ghijk"))
RACE(copies_bytes_to_the_end, (void)mempcpy(shared, "ghijk", 5))
RACE(clears, bzero(shared, 8))
