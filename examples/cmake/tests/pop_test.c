#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include "queue.h"
static void *pop(void *got) {
    int value;
    *(int *)got = queue_pop(&value);
    return NULL;
}
SELVEDGE_TEST(one_value_is_popped_once) {
    pthread_t one, other;
    int first, second;
    queue_push(1);
    pthread_create(&one, NULL, pop, &first);
    pthread_create(&other, NULL, pop, &second);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(first + second == 1);
}
