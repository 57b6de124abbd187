// Thirty threads move money between accounts under the locks of both; two of them take the same locks in opposite order.
#include <pthread.h>

#include <selvedge.h>

#define CLERKS 30

static struct account {
    pthread_mutex_t lock;
    long balance;
} accounts[CLERKS + 1];

static void move(struct account *from, struct account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance--;
    to->balance++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *work(void *argument) {
    long number = (long)argument;
    if (number == CLERKS - 1)
        move(&accounts[6], &accounts[5]);
    else
        move(&accounts[number], &accounts[number + 1]);
    return NULL;
}

SELVEDGE_TEST(two_of_thirty) {
    pthread_t clerks[CLERKS];
    for (int i = 0; i <= CLERKS; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    for (long i = 0; i < CLERKS; i++)
        pthread_create(&clerks[i], NULL, work, (void *)i);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
}
