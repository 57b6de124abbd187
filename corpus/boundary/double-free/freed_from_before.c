// What a constructor allocated is freed by two threads.
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static char *name;

__attribute__((constructor)) static void make(void) { name = malloc(32); }

static void *drop(void *unused) {
    free(name);
    return unused;
}

SELVEDGE_TEST(freed_from_before) {
    pthread_t other;
    pthread_create(&other, NULL, drop, NULL);
    drop(NULL);
    pthread_join(other, NULL);
}
