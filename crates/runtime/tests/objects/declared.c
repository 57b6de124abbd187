/* Objects that are meant to be nondeterministic, in part. */
#include <pthread.h>
#include <selvedge.h>
#include <stdatomic.h>
#include <stdlib.h>

struct bag {
    pthread_mutex_t lock;
    selvedge_value items[64];
    int count;
};

static void *bag_new(void) {
    struct bag *bag = calloc(1, sizeof *bag);
    pthread_mutex_init(&bag->lock, NULL);
    return bag;
}

static selvedge_value add(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    pthread_mutex_lock(&bag->lock);
    bag->items[bag->count++] = arguments[0];
    pthread_mutex_unlock(&bag->lock);
    return SELVEDGE_VOID;
}

static selvedge_value remove_at(struct bag *bag, int at) {
    selvedge_value taken = bag->items[at];
    bag->items[at] = bag->items[--bag->count];
    return taken;
}

static selvedge_value take(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    (void)arguments;
    pthread_mutex_lock(&bag->lock);
    selvedge_value taken = bag->count ? remove_at(bag, 0) : SELVEDGE_EMPTY;
    pthread_mutex_unlock(&bag->lock);
    return taken;
}

/* Gives up when somebody else has the lock. */
static selvedge_value try_take(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    (void)arguments;
    if (pthread_mutex_trylock(&bag->lock) != 0)
        return SELVEDGE_EMPTY;
    selvedge_value taken = bag->count ? remove_at(bag, 0) : SELVEDGE_EMPTY;
    pthread_mutex_unlock(&bag->lock);
    return taken;
}

SELVEDGE_OBJECT(try_take, bag_new, free, SELVEDGE_CALL("add", add, 1), SELVEDGE_CALL("try_take", try_take));

/* Two halves that are counted one after the other. */
struct halves {
    atomic_int left, right;
};

static void *halves_new(void) {
    struct halves *halves = calloc(1, sizeof *halves);
    halves->left = 1;
    return halves;
}

static selvedge_value length(void *object, const selvedge_value *arguments) {
    struct halves *halves = object;
    (void)arguments;
    int right = halves->right;
    return right + halves->left;
}

static selvedge_value move(void *object, const selvedge_value *arguments) {
    struct halves *halves = object;
    (void)arguments;
    if (atomic_exchange(&halves->left, 0))
        halves->right = 1;
    return SELVEDGE_VOID;
}

SELVEDGE_OBJECT(length, halves_new, free, SELVEDGE_CALL("length", length), SELVEDGE_CALL("move", move));

/* A bag gives any of its elements. */
static selvedge_value take_any(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    (void)arguments;
    return bag->count ? remove_at(bag, selvedge_choose(bag->count)) : SELVEDGE_EMPTY;
}

static selvedge_value put(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    bag->items[bag->count++] = arguments[0];
    return SELVEDGE_VOID;
}

#define BAG_CALLS(add, take) SELVEDGE_CALL("add", add, 1), SELVEDGE_CALL("add", add, 2), SELVEDGE_CALL("take", take)

SELVEDGE_OBJECT(bag, bag_new, free, BAG_CALLS(add, take));
SELVEDGE_REFERENCE(bag, bag_new, free, BAG_CALLS(put, take_any));

/* Looks and takes in two steps. */
static selvedge_value take_leaky(void *object, const selvedge_value *arguments) {
    struct bag *bag = object;
    (void)arguments;
    pthread_mutex_lock(&bag->lock);
    int count = bag->count;
    pthread_mutex_unlock(&bag->lock);
    if (!count)
        return SELVEDGE_EMPTY;
    pthread_mutex_lock(&bag->lock);
    selvedge_value taken = bag->items[0];
    if (bag->count)
        remove_at(bag, 0);
    pthread_mutex_unlock(&bag->lock);
    return taken;
}

SELVEDGE_OBJECT(leaky_bag, bag_new, free, BAG_CALLS(add, take_leaky));
SELVEDGE_REFERENCE(leaky_bag, bag_new, free, BAG_CALLS(put, take_any));

/* A thread of its own counts; who asks sees how far it is. */
struct helped {
    atomic_int count;
    pthread_t helper;
};

static void *help(void *object) {
    struct helped *helped = object;
    helped->count++;
    return NULL;
}

static void *helped_new(void) {
    struct helped *helped = calloc(1, sizeof *helped);
    pthread_create(&helped->helper, NULL, help, helped);
    return helped;
}

static void helped_free(void *object) {
    struct helped *helped = object;
    pthread_join(helped->helper, NULL);
    free(helped);
}

static selvedge_value ask(void *object, const selvedge_value *arguments) {
    struct helped *helped = object;
    (void)arguments;
    return helped->count;
}

SELVEDGE_OBJECT(helped, helped_new, helped_free, SELVEDGE_CALL("ask", ask));

/* A thread of its own that serves for ever, and hands everything back in order. */
struct server {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    selvedge_value asked, answered;
};

static void *serve(void *object) {
    struct server *server = object;
    pthread_mutex_lock(&server->lock);
    for (;;) {
        while (server->answered == server->asked)
            pthread_cond_wait(&server->changed, &server->lock);
        server->answered = server->asked;
        pthread_cond_broadcast(&server->changed);
    }
}

static void *server_new(void) {
    struct server *server = calloc(1, sizeof *server);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    pthread_t helper;
    pthread_create(&helper, NULL, serve, server);
    pthread_detach(helper);
    return server;
}

static selvedge_value request(void *object, const selvedge_value *arguments) {
    struct server *server = object;
    (void)arguments;
    pthread_mutex_lock(&server->lock);
    selvedge_value mine = ++server->asked;
    pthread_cond_broadcast(&server->changed);
    while (server->answered < mine)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return mine;
}

SELVEDGE_OBJECT(server, server_new, NULL, SELVEDGE_CALL("request", request));
