#include "queue.h"
#include <pthread.h>
#define ROOM 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[ROOM];
static unsigned head, tail;

bool queue_push(int value) {
    pthread_mutex_lock(&lock);
    bool fits = tail - head < ROOM;
    if (fits)
        slots[tail++ % ROOM] = value;
    pthread_mutex_unlock(&lock);
    return fits;
}

bool queue_pop(int *value) {
    if (head == tail)
        return false;
    pthread_mutex_lock(&lock);
    *value = slots[head++ % ROOM];
    pthread_mutex_unlock(&lock);
    return true;
}
