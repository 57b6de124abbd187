// errno belongs to the thread.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <selvedge.h>

static atomic_int turns;

static void *fails(void *unused) {
    assert(open("/no such directory/file", O_RDONLY) == -1);
    turns++;
    assert(errno == ENOENT);
    return unused;
}

SELVEDGE_TEST(errors_of_each) {
    pthread_t other;
    pthread_create(&other, NULL, fails, NULL);
    errno = 0;
    assert(strtol("99999999999999999999", NULL, 10) > 0);
    turns++;
    assert(errno == ERANGE);
    pthread_join(other, NULL);
}
