// The map is looked at and filled under the lock, but under two locks.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <selvedge.h>

static std::mutex lock;
static std::map<std::string, int> cache;
static int computed;

static bool known(const std::string &key) {
    std::lock_guard<std::mutex> held(lock);
    return cache.count(key) != 0;
}

static void compute(const std::string &key) {
    if (!known(key)) {
        std::lock_guard<std::mutex> held(lock);
        cache[key] = ++computed;
    }
}

SELVEDGE_TEST(check_then_act) {
    std::thread other(compute, "pi");
    compute("pi");
    other.join();
    assert(computed == 1);
}
