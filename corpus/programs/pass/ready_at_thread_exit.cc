/* Futures that become ready when a thread ends: what was done before is there when they are, and whoever lets go last destroys them. */
#include <cassert>
#include <chrono>
#include <future>
#include <memory>
#include <selvedge.h>
#include <thread>

static int before;

SELVEDGE_TEST(value) {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread other([&] {
        promise.set_value_at_thread_exit(7);
        before = 1;
    });
    assert(future.get() == 7);
    assert(before == 1);
    other.join();
}

/* Asked, and not waited for: either answer is right. */
SELVEDGE_TEST(asked) {
    std::promise<void> promise;
    auto future = promise.get_future();
    std::thread other([&] {
        promise.set_value_at_thread_exit();
        before = 1;
    });
    if (future.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        assert(before == 1);
    other.join();
    assert(future.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

/* The thread that makes it ready may be the last to hold it, and the value with it, or not. */
SELVEDGE_TEST(let_go) {
    auto promise = std::make_unique<std::promise<std::shared_ptr<int>>>();
    auto future = promise->get_future();
    std::thread other([promise = std::move(promise)] { promise->set_value_at_thread_exit(std::make_shared<int>(7)); });
    future = {};
    other.join();
}

SELVEDGE_TEST(task) {
    std::packaged_task<int()> task([] { return 7; });
    auto future = task.get_future();
    std::thread other([&] {
        task.make_ready_at_thread_exit();
        before = 1;
    });
    assert(future.get() == 7);
    assert(before == 1);
    other.join();
}
