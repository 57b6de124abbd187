// Two threads see that nobody has closed the connection yet.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <selvedge.h>

static char *connection;
static atomic_int closed;

static void *shut(void *unused) {
    if (!atomic_load(&closed)) {
        atomic_store(&closed, 1);
        free(connection);
    }
    return unused;
}

SELVEDGE_TEST(closed_twice) {
    pthread_t other;
    connection = malloc(10);
    pthread_create(&other, NULL, shut, NULL);
    shut(NULL);
    pthread_join(other, NULL);
}
