/* A future that becomes ready when a thread ends may be ready when it is asked, or not. */
#include <cassert>
#include <chrono>
#include <future>
#include <selvedge.h>
#include <thread>

static std::future_status ask(void) {
    std::promise<void> promise;
    auto future = promise.get_future();
    std::thread other([&] { promise.set_value_at_thread_exit(); });
    auto status = future.wait_for(std::chrono::seconds(0));
    other.join();
    return status;
}

SELVEDGE_TEST(never_ready) {
    assert(ask() != std::future_status::ready);
}

SELVEDGE_TEST(always_ready) {
    assert(ask() == std::future_status::ready);
}
