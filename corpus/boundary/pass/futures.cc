// A promise, a packaged task and a call that is made once.
#include <cassert>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include <selvedge.h>

SELVEDGE_TEST(promised) {
    std::promise<std::string> promise;
    auto future = promise.get_future();
    std::thread other([&] { promise.set_value("a value that needs memory of its own"); });
    assert(future.get().size() > 20);
    other.join();
}

SELVEDGE_TEST(packaged) {
    std::packaged_task<int(int)> task([](int value) { return value + 1; });
    auto future = task.get_future();
    std::thread other(std::move(task), 6);
    assert(future.get() == 7);
    other.join();
}

SELVEDGE_TEST(called_once) {
    std::once_flag once;
    int calls = 0;
    auto call = [&] { std::call_once(once, [&] { calls++; }); };
    std::thread other(call);
    call();
    other.join();
    assert(calls == 1);
}
