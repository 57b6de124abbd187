// The flag is set without the lock: the wait may miss it between its look and its sleep.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::mutex lock;
static std::condition_variable changed;
static std::atomic<bool> stop{false};

SELVEDGE_TEST(flag_beside_lock) {
    std::thread worker([] {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [] { return stop.load(); });
    });
    stop = true;
    changed.notify_all();
    worker.join();
}
