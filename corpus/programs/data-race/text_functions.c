/* Functions of libc that print, convert, cut and search, on what another thread writes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <selvedge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

static char text[32] = "12345";
static wchar_t wide[8] = L"abc";
char printed[64];
long kept;

static void *writes(void *unused) {
    text[2] = '9';
    wide[1] = L'x';
    return unused;
}

#define BESIDE(name, ...)                            \
    SELVEDGE_TEST(name) {                            \
        pthread_t thread;                            \
        pthread_create(&thread, NULL, writes, NULL); \
        __VA_ARGS__;                                 \
        pthread_join(thread, NULL);                  \
    }

BESIDE(printf_, printf("%d %s %f\n", 1, text, 2.0))
BESIDE(printf_many, printf("%d %d %d %d %d %d %s\n", 1, 2, 3, 4, 5, 6, text))
BESIDE(printf_precision, printf("%.*s\n", 3, text))
BESIDE(fprintf_, fprintf(stderr, "%Lf%s", 1.0L, text))
BESIDE(snprintf_, snprintf(printed, sizeof printed, "%s", text))
BESIDE(snprintf_into, snprintf(text, sizeof text, "%d", 123456))
BESIDE(sprintf_into, sprintf(text, "%5.2f", 31.5))
BESIDE(puts_, puts(text))
BESIDE(fputs_, fputs(text, stdout))
BESIDE(fwrite_, fwrite(text, 1, 5, stdout))
BESIDE(atoi_, kept = atoi(text))
BESIDE(strtol_, kept = strtol(text, NULL, 10))
BESIDE(strtod_, kept = (long)strtod(text, NULL))
BESIDE(memmem_, kept = memmem(text, 5, "45", 2) != NULL)
BESIDE(strndup_, free(strndup(text, 4)))
BESIDE(strtok_, char *rest; kept = strtok_r(text, "4", &rest) != NULL)
BESIDE(strsep_, char *rest = text; kept = strsep(&rest, "3") != NULL)
BESIDE(strspn_, kept = (long)strspn(text, "123"))
BESIDE(strcspn_, kept = (long)strcspn(text, "5"))
BESIDE(stpncpy_, stpncpy(text, "abc", 8))
BESIDE(memccpy_, memccpy(text, "abcdef", 'e', 8))
BESIDE(explicit_bzero_, explicit_bzero(text, 8))
BESIDE(wcslen_, kept = (long)wcslen(wide))
BESIDE(wcscpy_, wcscpy(wide, L"xyz"))
BESIDE(wmemset_, wmemset(wide, L'a', 4))
