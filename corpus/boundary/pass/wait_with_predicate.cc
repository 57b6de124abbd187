/* Waits with a predicate, with and without a limit of time. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <selvedge.h>
#include <thread>

SELVEDGE_TEST(told_to_begin) {
    std::mutex lock;
    std::condition_variable told;
    bool begin = false;
    std::thread stage([&] {
        std::unique_lock<std::mutex> guard(lock);
        const bool came = told.wait_for(guard, std::chrono::milliseconds(5), [&] { return begin; });
        assert(came == begin);
        told.wait(guard, [&] { return begin; });
        assert(begin);
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        begin = true;
    }
    told.notify_one();
    stage.join();
}
