/* Two threads count without a lock. */
#include <assert.h>
#include <pthread.h>
static int counter;
static void *add(void *a) { (void)a; counter++; return 0; }
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(counter == 2);
}
