/* A test that asks for one of the elements of an empty table. */
#include <pthread.h>
#include <selvedge.h>

static unsigned entries;

static void *insert(void *unused) {
    entries = 1;
    return unused;
}

SELVEDGE_TEST(any_entry) {
    pthread_t thread;
    unsigned entry = selvedge_choose(entries);
    pthread_create(&thread, NULL, insert, NULL);
    pthread_join(thread, NULL);
    (void)entry;
}
