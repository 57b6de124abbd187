// std::thread, std::mutex, std::condition_variable, thread_local with a destructor, exceptions.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <selvedge.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> destroyed;

struct Guard {
    int value = 0;
    ~Guard() { destroyed++; }
};
static thread_local Guard guard;

SELVEDGE_TEST(std_thread) {
    std::mutex mutex;
    std::condition_variable condition;
    bool ready = false;
    std::thread waiter([&] {
        guard.value = 1;
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [&] { return ready; });
        try {
            throw std::runtime_error("caught on a fiber");
        } catch (const std::exception &) {
            guard.value = 2;
        }
        assert(guard.value == 2);
    });
    {
        std::lock_guard<std::mutex> lock(mutex);
        ready = true;
    }
    condition.notify_one();
    waiter.join();
    assert(destroyed == 1);
}
