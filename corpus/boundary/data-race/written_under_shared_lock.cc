// flags: -std=c++17
// A cache counts its hits under the lock of readers.
#include <map>
#include <shared_mutex>
#include <thread>

#include <selvedge.h>

static std::shared_mutex lock;
static int hits;

static void look() {
    std::shared_lock<std::shared_mutex> held(lock);
    hits++;
}

SELVEDGE_TEST(written_under_shared_lock) {
    std::thread other(look);
    look();
    other.join();
}
