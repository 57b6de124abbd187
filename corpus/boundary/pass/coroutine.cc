// flags: -std=c++20
// only: gcc
// A coroutine is resumed by the other thread.
#include <cassert>
#include <coroutine>
#include <exception>
#include <thread>

#include <selvedge.h>

struct Task {
    struct promise_type {
        int value = 0;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

static Task count() {
    for (int i = 1;; i++)
        co_yield i;
}

SELVEDGE_TEST(coroutine) {
    Task task = count();
    task.handle.resume();
    assert(task.handle.promise().value == 1);
    std::thread other([&] { task.handle.resume(); });
    other.join();
    assert(task.handle.promise().value == 2);
    task.handle.destroy();
}
