/* Two threads give back what they took when they cannot have all, and try again; what they want is held by one who has ended. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t forgotten = PTHREAD_MUTEX_INITIALIZER;

static void *forgets(void *argument) {
    pthread_mutex_lock(&forgotten);
    return argument;
}

static void *takes_both(void *mine) {
    pthread_mutex_lock(mine);
    while (pthread_mutex_trylock(&forgotten)) {
        pthread_mutex_unlock(mine);
        pthread_mutex_lock(mine);
    }
    pthread_mutex_unlock(&forgotten);
    pthread_mutex_unlock(mine);
    return NULL;
}

SELVEDGE_TEST(give_back_and_try) {
    pthread_t thread, others[2];
    pthread_create(&thread, NULL, forgets, NULL);
    pthread_join(thread, NULL);
    pthread_create(&others[0], NULL, takes_both, &one);
    pthread_create(&others[1], NULL, takes_both, &two);
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
}
