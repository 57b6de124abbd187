// Waits with a deadline, in the words of C++.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <selvedge.h>

using namespace std::chrono_literals;

static std::mutex lock;
static std::condition_variable changed;
static bool ready;

SELVEDGE_TEST(deadline) {
    std::thread other([] {
        std::lock_guard<std::mutex> held(lock);
        ready = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> held(lock);
        bool in_time = changed.wait_for(held, 50ms, [] { return ready; });
        assert(in_time == ready);
    }
    other.join();
}

SELVEDGE_TEST(slow_answer) {
    auto answer = std::async(std::launch::async, [] { return 7; });
    auto status = answer.wait_for(1s);
    assert(status == std::future_status::ready || status == std::future_status::timeout);
    assert(answer.get() == 7);
}
