// Memory that comes from mmap is memory like any other.
#include <pthread.h>
#include <sys/mman.h>

#include <selvedge.h>

static void *count(void *counter) {
    ++*(int *)counter;
    return NULL;
}

SELVEDGE_TEST(mapped_memory) {
    int *counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t other;
    pthread_create(&other, NULL, count, counter);
    count(counter);
    pthread_join(other, NULL);
    munmap(counter, 4096);
}
