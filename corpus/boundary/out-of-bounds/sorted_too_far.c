// The number of elements is that of another table.
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static int rising(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *sort(void *numbers) {
    qsort(numbers, 40, sizeof(int), rising);
    return NULL;
}

SELVEDGE_TEST(sorted_too_far) {
    int *numbers = calloc(4, sizeof *numbers);
    pthread_t other;
    pthread_create(&other, NULL, sort, numbers);
    pthread_join(other, NULL);
    free(numbers);
}
