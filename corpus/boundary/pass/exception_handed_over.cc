// An exception of one thread is thrown again in another.
#include <cassert>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <selvedge.h>

static std::exception_ptr failure;

SELVEDGE_TEST(exception_handed_over) {
    std::thread worker([] {
        try {
            throw std::runtime_error("a message that needs memory of its own");
        } catch (...) {
            failure = std::current_exception();
        }
    });
    worker.join();
    bool caught = false;
    try {
        std::rethrow_exception(failure);
    } catch (const std::runtime_error &error) {
        caught = std::string(error.what()).size() > 20;
    }
    assert(caught);
    auto result = std::async(std::launch::async, []() -> int { throw 7; });
    try {
        result.get();
        assert(false);
    } catch (int number) {
        assert(number == 7);
    }
}
