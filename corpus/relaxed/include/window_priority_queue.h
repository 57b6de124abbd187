/* A priority queue, smallest first, behind a lock: removals take any of a window of the K+1 smallest values, which is filled
   again when it is used up. A smaller value that comes in takes the place of the largest of the window. BUG 2 takes the
   largest value of all when there are more than the window holds. */
#ifndef BUG
#define BUG 0
#endif
#include "relaxed.h"

enum { K = 2 };
struct heap {
    pthread_mutex_t lock;
    int values[32]; /* ascending */
    int count, window, turn;
};
static void *heap_new(void) {
    struct heap *heap = calloc(1, sizeof *heap);
    pthread_mutex_init(&heap->lock, NULL);
    return heap;
}
static void heap_free(void *object) {
    pthread_mutex_destroy(&((struct heap *)object)->lock);
    free(object);
}

static void heap_insert(struct heap *heap, int value) {
    pthread_mutex_lock(&heap->lock);
    int at = heap->count++;
    for (; at > 0 && heap->values[at - 1] > value; at--) heap->values[at] = heap->values[at - 1];
    heap->values[at] = value;
    pthread_mutex_unlock(&heap->lock);
}
static bool heap_poll(struct heap *heap, int *value) {
    pthread_mutex_lock(&heap->lock);
    bool found = heap->count > 0;
    if (found) {
        if (heap->window == 0) heap->window = heap->count < K + 1 ? heap->count : K + 1;
        int at = ++heap->turn % heap->window;
#if BUG == 2
        if (heap->count > K + 1) at = heap->count - 1;
#endif
        heap->window--;
        *value = heap->values[at];
        for (int i = at; i + 1 < heap->count; i++) heap->values[i] = heap->values[i + 1];
        heap->count--;
        if (heap->window > heap->count) heap->window = heap->count;
    }
    pthread_mutex_unlock(&heap->lock);
    return found;
}
