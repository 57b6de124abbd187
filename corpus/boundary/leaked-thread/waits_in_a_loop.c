// A thread looks at a flag that only the test could set, after the test has returned.
#include <pthread.h>
#include <stdatomic.h>

atomic_bool stop;
atomic_int rounds;

static void *look(void *unused) {
    atomic_fetch_add(&rounds, 1);
    while (!atomic_load(&stop))
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    return 0;
}
