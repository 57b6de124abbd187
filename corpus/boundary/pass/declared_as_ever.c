// flags: -w
/* Declarations from before there were prototypes, of other types than libc's. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>

char *malloc();
char *strchr();

static void *work(void *text) {
    char *copy = malloc(8);
    copy[0] = *strchr(text, '4');
    copy[1] = 0;
    return copy;
}

SELVEDGE_TEST(declared_as_ever) {
    pthread_t one, other;
    void *first, *second;
    pthread_create(&one, NULL, work, "a4");
    pthread_create(&other, NULL, work, "b4");
    pthread_join(one, &first);
    pthread_join(other, &second);
    assert(first != second && *(char *)first == *(char *)second);
}
