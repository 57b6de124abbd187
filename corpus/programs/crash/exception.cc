// An exception that nobody catches, in some schedules only; others are caught, on every thread and in every run.
#include <atomic>
#include <selvedge.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> order;

static void risky(int mine) {
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &) {
        order.store(mine);
    }
}

SELVEDGE_TEST(exception) {
    std::thread first(risky, 1), second(risky, 2);
    first.join();
    second.join();
    if (order.load() == 1)
        throw std::runtime_error("not caught");
}
