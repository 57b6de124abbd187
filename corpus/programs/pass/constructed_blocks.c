// Memory that a constructor allocated is as the constructor left it in every run, also where a run frees it or makes it larger.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <selvedge.h>

enum { LARGE = 300000 };

static int *block, *grown;
static char *large;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void allocate(void) {
    block = calloc(4, sizeof *block);
    grown = malloc(2 * sizeof *grown);
    grown[0] = 5;
    grown[1] = 6;
    large = aligned_alloc(4096, LARGE);
    memset(large, 1, LARGE);
    // One that is free before the first run.
    free(malloc(4 * sizeof *block));
}

static void both(void *(*body)(void *)) {
    pthread_t other;
    pthread_create(&other, NULL, body, NULL);
    body(NULL);
    pthread_join(other, NULL);
}

static void *count(void *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    block[3]++;
    large[0]++;
    large[LARGE - 1]++;
    pthread_mutex_unlock(&guard);
    return NULL;
}

SELVEDGE_TEST(counted) {
    both(count);
    assert(block[3] == 2);
    assert(large[0] == 3 && large[LARGE / 2] == 1 && large[LARGE - 1] == 3);
}

static void *once(void *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    free(block);
    block = NULL;
    pthread_mutex_unlock(&guard);
    return NULL;
}

SELVEDGE_TEST(freed) {
    both(once);
    assert(block == NULL);
    assert(grown[0] == 5);
}

static void *grow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    grown = realloc(grown, 100 * sizeof *grown);
    grown[0]++;
    pthread_mutex_unlock(&guard);
    return NULL;
}

SELVEDGE_TEST(enlarged) {
    both(grow);
    assert(grown[0] == 7 && grown[1] == 6);
}
