// The same by the compiler's own name, of constant size.
#include <pthread.h>

#include <selvedge.h>

static struct { char name[16]; int age; } person;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grow(void *unused) {
    pthread_mutex_lock(&lock);
    person.age++;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(explicit_builtin) {
    pthread_t other;
    pthread_create(&other, NULL, grow, NULL);
    __builtin_memset(&person, 0, sizeof person);
    pthread_join(other, NULL);
}
