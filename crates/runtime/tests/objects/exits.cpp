// Objects that do something when a thread ends: its thread-local objects are destroyed. Each is local to a function: the first use of one at
// file scope makes all of them.
#include <atomic>
#include <pthread.h>
#include <selvedge.h>

static std::atomic<int> live{0};

static void *none_alive() {
    static int object;
    return &object;
}
static void forget(void *) {}
static selvedge_value count(void *, const selvedge_value *) { return live.load(); }

// Counts the threads that are alive and have entered.
struct Guard {
    Guard() { live.fetch_add(1); }
    ~Guard() { live.fetch_sub(1); }
    void touch() {}
};
static selvedge_value enter(void *, const selvedge_value *) {
    static thread_local Guard guard;
    guard.touch();
    return SELVEDGE_VOID;
}
SELVEDGE_OBJECT(guarded, none_alive, forget, SELVEDGE_CALL("enter", enter), SELVEDGE_CALL("count", count));

// The same, but an end can be lost.
struct Careless {
    Careless() { live.fetch_add(1); }
    ~Careless() {
        int now = live.load();
        live.store(now - 1);
    }
    void touch() {}
};
static selvedge_value enter_careless(void *, const selvedge_value *) {
    static thread_local Careless careless;
    careless.touch();
    return SELVEDGE_VOID;
}
SELVEDGE_OBJECT(careless, none_alive, forget, SELVEDGE_CALL("enter", enter_careless), SELVEDGE_CALL("count", count));

// The same with a key of POSIX, and a lock.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int present;
struct Keyed {
    pthread_key_t key;
};
static void leave(void *) {
    pthread_mutex_lock(&lock);
    present--;
    pthread_mutex_unlock(&lock);
}
static void *keyed_new() {
    Keyed *keyed = new Keyed;
    pthread_key_create(&keyed->key, leave);
    return keyed;
}
static void keyed_delete(void *object) { delete static_cast<Keyed *>(object); }
static selvedge_value enter_keyed(void *object, const selvedge_value *) {
    Keyed *keyed = static_cast<Keyed *>(object);
    if (pthread_getspecific(keyed->key) == nullptr) {
        pthread_mutex_lock(&lock);
        present++;
        pthread_mutex_unlock(&lock);
        pthread_setspecific(keyed->key, keyed);
    }
    return SELVEDGE_VOID;
}
static selvedge_value count_keyed(void *, const selvedge_value *) {
    pthread_mutex_lock(&lock);
    int now = present;
    pthread_mutex_unlock(&lock);
    return now;
}
SELVEDGE_OBJECT(keyed, keyed_new, keyed_delete, SELVEDGE_CALL("enter", enter_keyed), SELVEDGE_CALL("count", count_keyed));

// The end of a thread touches what calls touch, and no call can tell.
static std::atomic<int> ended{0}, number{0};
struct Quiet {
    ~Quiet() { ended.fetch_add(1); }
    void touch() { ended.load(); }
};
static selvedge_value next(void *, const selvedge_value *) {
    static thread_local Quiet quiet;
    quiet.touch();
    return number.fetch_add(1);
}
SELVEDGE_OBJECT(quiet, none_alive, forget, SELVEDGE_CALL("next", next));

// The end of a thread gives something back without a lock: two at once lose one, and nothing serial is ever lost.
static std::atomic<int> spare{2};
struct Loan {
    bool taken = false;
    ~Loan() {
        if (taken) {
            int now = spare.load();
            spare.store(now + 1);
        }
    }
};
static selvedge_value take(void *, const selvedge_value *) {
    static thread_local Loan loan;
    if (!loan.taken) {
        spare.fetch_sub(1);
        loan.taken = true;
    }
    return SELVEDGE_VOID;
}
static selvedge_value left(void *, const selvedge_value *) { return spare.load(); }
SELVEDGE_OBJECT(loans, none_alive, forget, SELVEDGE_CALL("take", take), SELVEDGE_CALL("left", left));
SELVEDGE_OPTION(loans, "final left()");

// The end of a thread waits for what another call has: serially it does so too. And one that waits only when two end at once.
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
struct Waiter {
    ~Waiter() {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    void touch() {}
};
static selvedge_value visit(void *, const selvedge_value *) {
    static thread_local Waiter waiter;
    waiter.touch();
    return SELVEDGE_VOID;
}
static selvedge_value close(void *, const selvedge_value *) {
    pthread_mutex_lock(&gate);
    return SELVEDGE_VOID;
}
SELVEDGE_OBJECT(waiting, none_alive, forget, SELVEDGE_CALL("visit", visit), SELVEDGE_CALL("close", close));

static std::atomic<int> leaving{0};
struct Shy {
    ~Shy() {
        if (leaving.fetch_add(1) > 0) {
            pthread_mutex_lock(&gate);
            pthread_mutex_lock(&gate);
        }
        leaving.fetch_sub(1);
    }
    void touch() {}
};
static selvedge_value stay(void *, const selvedge_value *) {
    static thread_local Shy shy;
    shy.touch();
    return SELVEDGE_VOID;
}
SELVEDGE_OBJECT(shy, none_alive, forget, SELVEDGE_CALL("stay", stay));
