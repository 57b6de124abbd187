// What the standard library of C++ has for threads, beside std::thread.
#include <cassert>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <selvedge.h>
#include <shared_mutex>
#include <thread>

static std::shared_mutex shared;
static int value;

SELVEDGE_TEST(shared_mutex) {
    std::thread writer([] {
        std::unique_lock<std::shared_mutex> lock(shared);
        value = 1;
    });
    {
        std::shared_lock<std::shared_mutex> lock(shared);
        assert(value == 0 || value == 1);
    }
    writer.join();
    assert(value == 1);
}

static std::once_flag once;

SELVEDGE_TEST(call_once) {
    auto initialise = [] { std::call_once(once, [] { value++; }); };
    std::thread other(initialise);
    initialise();
    assert(value == 1);
    other.join();
}

SELVEDGE_TEST(condition_variable) {
    std::mutex mutex;
    std::condition_variable condition;
    bool ready = false;
    std::thread other([&] {
        std::lock_guard<std::mutex> lock(mutex);
        ready = true;
        condition.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [&] { return ready; });
    }
    other.join();
}

SELVEDGE_TEST(future) {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread other([&] { promise.set_value(3); });
    assert(future.get() == 3);
    other.join();
}

struct Local {
    std::unique_ptr<int> number = std::make_unique<int>(0);
};

static thread_local Local local;

SELVEDGE_TEST(thread_local_object) {
    std::thread other([] { assert(++*local.number == 1); });
    assert(++*local.number == 1);
    other.join();
}
