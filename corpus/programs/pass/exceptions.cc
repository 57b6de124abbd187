/* Exceptions that several threads hold: whoever lets go last destroys them, after all that the others did with them. */
#include <cassert>
#include <exception>
#include <future>
#include <memory>
#include <selvedge.h>
#include <stdexcept>
#include <string>
#include <thread>

struct Trouble {
    std::string text;
};

static void look(std::exception_ptr held) {
    try {
        std::rethrow_exception(std::move(held));
    } catch (Trouble &trouble) {
        assert(trouble.text[0] == 'l');
    }
}

SELVEDGE_TEST(two_hold_one) {
    auto trouble = std::make_exception_ptr(Trouble{"longer than what fits into a string itself"});
    std::thread one(look, trouble), other(look, std::move(trouble));
    one.join();
    other.join();
}

SELVEDGE_TEST(nobody_keeps_the_promise) {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread other([promise = std::move(promise)]() mutable {});
    try {
        future.get();
        assert(false);
    } catch (std::future_error &error) {
        assert(error.code() == std::future_errc::broken_promise);
    }
    other.join();
}

/* The one who threw it may be the last to hold it, or not. */
SELVEDGE_TEST(handed_on) {
    std::promise<std::exception_ptr> promise;
    std::thread other([&] { look(promise.get_future().get()); });
    try {
        throw Trouble{"longer than what fits into a string itself"};
    } catch (Trouble &trouble) {
        promise.set_value(std::current_exception());
        assert(trouble.text[1] == 'o');
    }
    other.join();
}
