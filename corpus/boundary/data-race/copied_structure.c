// A structure is copied by assignment, without the lock.
#include <pthread.h>

#include <selvedge.h>

struct position { double x, y, z; };

static struct position shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *move(void *unused) {
    pthread_mutex_lock(&lock);
    shared.z += 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

double sum(struct position position) { return position.x + position.y + position.z; }

SELVEDGE_TEST(copied_structure) {
    pthread_t mover;
    struct position seen;
    pthread_create(&mover, NULL, move, NULL);
    seen = shared;
    pthread_join(mover, NULL);
    if (sum(seen) < 0)
        shared = seen;
}
