/* Each says that it wants in, then looks at the other, with mfence between. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>

static int wants[2], entered[2];

static int load(int *from) {
    int value;
    __asm__ __volatile__("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static void store(int *to, int value) { __asm__ __volatile__("movl %1, %0" : "=m"(*to) : "r"(value) : "memory"); }

static void *enter(void *who) {
    int me = *(int *)who;
    store(&wants[me], 1);
    __asm__ __volatile__("mfence" : : : "memory");
    if (!load(&wants[!me]))
        entered[me] = 1;
    return NULL;
}

SELVEDGE_TEST(not_both) {
    pthread_t threads[2];
    int who[] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, &who[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!(entered[0] && entered[1]));
}
