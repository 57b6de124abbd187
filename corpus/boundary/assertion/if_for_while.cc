/* A stage that begins when it is told to, without a loop around the wait. */
#include <cassert>
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
        if (!begin) told.wait(guard);
        assert(begin);
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        begin = true;
    }
    told.notify_one();
    stage.join();
}
