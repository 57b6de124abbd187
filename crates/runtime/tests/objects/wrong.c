/* Objects that cannot be tested. */
#include <pthread.h>
#include <selvedge.h>
#include <stdlib.h>
#include <time.h>

static void *number_new(void) { return calloc(1, sizeof(int)); }

static selvedge_value get(void *object, const selvedge_value *arguments) {
    (void)arguments;
    return *(int *)object;
}

SELVEDGE_OBJECT(twice, number_new, free, SELVEDGE_CALL("get", get), SELVEDGE_CALL("get", get));

static selvedge_value now(void *object, const selvedge_value *arguments) {
    (void)object, (void)arguments;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec;
}

SELVEDGE_OBJECT(of_time, number_new, free, SELVEDGE_CALL("get", get), SELVEDGE_CALL("now", now));

static selvedge_value draw(void *object, const selvedge_value *arguments) {
    (void)object, (void)arguments;
    return rand();
}

SELVEDGE_OBJECT(of_chance, number_new, free, SELVEDGE_CALL("draw", draw));

static selvedge_value cycles(void *object, const selvedge_value *arguments) {
    (void)object, (void)arguments;
    return (selvedge_value)(__builtin_ia32_rdtsc() >> 1);
}

SELVEDGE_OBJECT(of_cycles, number_new, free, SELVEDGE_CALL("cycles", cycles));

static void *unmade_new(void) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
    return NULL;
}

SELVEDGE_OBJECT(unmade, unmade_new, free, SELVEDGE_CALL("get", get));

static void *waiting_new(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    pthread_mutex_lock(lock);
    pthread_mutex_lock(lock);
    return lock;
}

SELVEDGE_OBJECT(waiting, waiting_new, free, SELVEDGE_CALL("get", get));

SELVEDGE_OBJECT(other_calls, number_new, free, SELVEDGE_CALL("get", get));
SELVEDGE_REFERENCE(other_calls, number_new, free, SELVEDGE_CALL("put", get, 1));
