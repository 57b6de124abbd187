// The signal may come before the wait; nothing is left of it.
#include <condition_variable>
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::mutex lock;
static std::condition_variable ready;

SELVEDGE_TEST(signal_without_state) {
    std::thread other([] { ready.notify_one(); });
    {
        std::unique_lock<std::mutex> held(lock);
        ready.wait(held);
    }
    other.join();
}
