// A small allocator in memory that comes from mmap, and is given back.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include <selvedge.h>

static struct { char *begin; size_t used; pthread_mutex_t lock; } arena = {NULL, 0, PTHREAD_MUTEX_INITIALIZER};

static int *allocate(void) {
    pthread_mutex_lock(&arena.lock);
    int *place = (int *)(arena.begin + arena.used);
    arena.used += sizeof *place;
    pthread_mutex_unlock(&arena.lock);
    assert(*place == 0);
    return place;
}

static void *work(void *unused) {
    *allocate() = 7;
    return unused;
}

SELVEDGE_TEST(arena_of_mapping) {
    pthread_t other;
    arena.begin = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(arena.begin != MAP_FAILED);
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    assert(((int *)arena.begin)[0] == 7 && ((int *)arena.begin)[1] == 7);
    munmap(arena.begin, 1 << 16);
}
