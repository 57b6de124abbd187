/* Objects with threads of their own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <selvedge.h>

/* A thread adds up what was put in. Who asks for the sum waits until everything is added: the same in every serial run. */
struct adder {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    selvedge_value waiting[16];
    int put, done;
    selvedge_value sum;
};

static void *add_up(void *object) {
    struct adder *adder = object;
    pthread_mutex_lock(&adder->lock);
    for (;;) {
        while (adder->done == adder->put)
            pthread_cond_wait(&adder->changed, &adder->lock);
        adder->sum += adder->waiting[adder->done++];
        pthread_cond_broadcast(&adder->changed);
    }
    return NULL;
}

static void *adder_new(void) {
    struct adder *adder = calloc(1, sizeof *adder);
    pthread_mutex_init(&adder->lock, NULL);
    pthread_cond_init(&adder->changed, NULL);
    pthread_t helper;
    pthread_create(&helper, NULL, add_up, adder);
    pthread_detach(helper);
    return adder;
}

static selvedge_value add(void *object, const selvedge_value *arguments) {
    struct adder *adder = object;
    pthread_mutex_lock(&adder->lock);
    adder->waiting[adder->put++] = arguments[0];
    pthread_cond_broadcast(&adder->changed);
    pthread_mutex_unlock(&adder->lock);
    return SELVEDGE_VOID;
}

static selvedge_value sum(void *object, const selvedge_value *arguments) {
    struct adder *adder = object;
    (void)arguments;
    pthread_mutex_lock(&adder->lock);
    while (adder->done < adder->put)
        pthread_cond_wait(&adder->changed, &adder->lock);
    selvedge_value found = adder->sum;
    pthread_mutex_unlock(&adder->lock);
    return found;
}

SELVEDGE_OBJECT(adder, adder_new, NULL, SELVEDGE_CALL("add", add, 1), SELVEDGE_CALL("sum", sum));

/* Does not wait: what it sees depends on how far the thread is, also when nothing else happens. */
static selvedge_value peek(void *object, const selvedge_value *arguments) {
    struct adder *adder = object;
    (void)arguments;
    pthread_mutex_lock(&adder->lock);
    selvedge_value found = adder->sum;
    pthread_mutex_unlock(&adder->lock);
    return found;
}

SELVEDGE_OBJECT(hasty, adder_new, NULL, SELVEDGE_CALL("add", add, 1), SELVEDGE_CALL("peek", peek));

/* Two words that a thread of the object changes one after the other, once. A reader sees any of three states, whoever reads beside it: serial
   runs differ, and that is what is to be said; that no serial run has what a concurrent one shows would be wrong. */
struct words {
    atomic_int first, second;
};

static void *change(void *object) {
    struct words *words = object;
    words->first = 1;
    words->second = 1;
    return NULL;
}

static void *words_new(void) {
    struct words *words = calloc(1, sizeof *words);
    pthread_t helper;
    pthread_create(&helper, NULL, change, words);
    pthread_detach(helper);
    return words;
}

static selvedge_value differ(void *object, const selvedge_value *arguments) {
    struct words *words = object;
    (void)arguments;
    int second = words->second;
    return words->first != second;
}

SELVEDGE_OBJECT(words, words_new, NULL, SELVEDGE_CALL("differ", differ));

/* Threads whose steps can be ordered in more ways than can be looked at, and whoever counts waits for their end. The count is wrong when two
   count at once, but that it is not right serially is more than can be known: the answer is that nothing is. */
struct busy {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
    atomic_int beats, count;
};

static void *beat(void *object) {
    struct busy *busy = object;
    for (int round = 0; round < 8; round++)
        busy->beats++;
    pthread_mutex_lock(&busy->lock);
    busy->done++;
    pthread_cond_broadcast(&busy->changed);
    pthread_mutex_unlock(&busy->lock);
    return NULL;
}

static void *busy_new(void) {
    struct busy *busy = calloc(1, sizeof *busy);
    pthread_mutex_init(&busy->lock, NULL);
    pthread_cond_init(&busy->changed, NULL);
    for (int number = 0; number < 3; number++) {
        pthread_t helper;
        pthread_create(&helper, NULL, beat, busy);
        pthread_detach(helper);
    }
    return busy;
}

static selvedge_value count(void *object, const selvedge_value *arguments) {
    struct busy *busy = object;
    (void)arguments;
    pthread_mutex_lock(&busy->lock);
    while (busy->done < 3)
        pthread_cond_wait(&busy->changed, &busy->lock);
    pthread_mutex_unlock(&busy->lock);
    int found = busy->count;
    busy->count = found + 1;
    return found;
}

SELVEDGE_OBJECT(busy, busy_new, NULL, SELVEDGE_CALL("count", count));

/* The adder with a wrong sum: two who add at once use one place. */
static selvedge_value wrong_add(void *object, const selvedge_value *arguments) {
    struct adder *adder = object;
    pthread_mutex_lock(&adder->lock);
    int at = adder->put;
    pthread_mutex_unlock(&adder->lock);
    pthread_mutex_lock(&adder->lock);
    adder->waiting[at] = arguments[0];
    adder->put = at + 1;
    pthread_cond_broadcast(&adder->changed);
    pthread_mutex_unlock(&adder->lock);
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(lossy, adder_new, NULL, SELVEDGE_CALL("add", wrong_add, 1), SELVEDGE_CALL("sum", sum));
