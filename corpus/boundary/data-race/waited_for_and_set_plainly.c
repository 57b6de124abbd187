// One thread waits for a variable that the other sets as if it were not atomic.
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int done;
static int value;

static void *sets(void *argument) {
    value = 1;
    *(int *)&done = 1;
    return argument;
}

SELVEDGE_TEST(set_plainly) {
    pthread_t setter;
    pthread_create(&setter, NULL, sets, NULL);
    while (!atomic_load(&done)) {
    }
    pthread_join(setter, NULL);
}
