// The handler may not be set yet when it is called.
#include <functional>
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::function<void()> handler;
static std::mutex lock;

SELVEDGE_TEST(empty_function) {
    std::thread other([] {
        std::lock_guard<std::mutex> held(lock);
        handler();
    });
    {
        std::lock_guard<std::mutex> held(lock);
        handler = [] {};
    }
    other.join();
}
