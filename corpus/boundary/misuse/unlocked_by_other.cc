// A std::mutex is given back by a thread that does not have it.
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::mutex lock;

SELVEDGE_TEST(unlocked_by_other) {
    lock.lock();
    std::thread other([] { lock.unlock(); });
    other.join();
}
