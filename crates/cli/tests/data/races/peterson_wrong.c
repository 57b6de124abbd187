/* The same with its first two lines exchanged. */
#include <assert.h>
#include <pthread.h>
static int flag[2], turn, inside, count;
static void enter(int me) {
    turn = !me;
    flag[me] = 1;
    while (flag[!me] && turn == !me);
}
static void leave(int me) { flag[me] = 0; }
static void *thread(void *a) {
    int me = *(int *)a;
    enter(me);
    assert(inside == 0);
    inside = 1;
    count++;
    inside = 0;
    leave(me);
    return 0;
}
int main(void) {
    pthread_t t[2];
    int id[2] = {0, 1};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, thread, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(count == 2);
}
