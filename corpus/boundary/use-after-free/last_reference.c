// The count is atomic, but it is read again after it was given back.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <selvedge.h>

struct buffer { atomic_int references; char data[16]; };

static void *release(void *argument) {
    struct buffer *buffer = argument;
    atomic_fetch_sub(&buffer->references, 1);
    if (atomic_load(&buffer->references) == 0)
        free(buffer);
    return NULL;
}

SELVEDGE_TEST(last_reference) {
    struct buffer *buffer = malloc(sizeof *buffer);
    atomic_init(&buffer->references, 2);
    pthread_t other;
    pthread_create(&other, NULL, release, buffer);
    release(buffer);
    pthread_join(other, NULL);
}
