/* An object that cannot be made, and a test that fails. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *unmade_new(void) { abort(); }
static void nothing(void *object) { (void)object; }
static selvedge_value get(void *object, const selvedge_value *arguments) {
    (void)object, (void)arguments;
    return 0;
}
SELVEDGE_OBJECT(unmade, unmade_new, nothing, SELVEDGE_CALL("get", get));

static atomic_int n;
static void *inc(void *argument) {
    int v = atomic_load(&n);
    atomic_store(&n, v + 1);
    return argument;
}
SELVEDGE_TEST(loses) {
    pthread_t thread;
    atomic_store(&n, 0);
    pthread_create(&thread, NULL, inc, NULL);
    inc(NULL);
    pthread_join(thread, NULL);
    assert(atomic_load(&n) == 2);
}
