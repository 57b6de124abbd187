/* What is written before a thread ends is there when its future is ready, not before. */
#include <chrono>
#include <future>
#include <selvedge.h>
#include <thread>

int written;

SELVEDGE_TEST(looks_too_early) {
    std::promise<void> promise;
    auto future = promise.get_future();
    std::thread other([&] {
        promise.set_value_at_thread_exit();
        written = 1;
    });
    future.wait_for(std::chrono::seconds(0));
    written = 2;
    other.join();
}
