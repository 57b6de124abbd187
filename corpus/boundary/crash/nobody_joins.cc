// An exception passes a std::thread that nobody has joined.
#include <stdexcept>
#include <thread>

#include <selvedge.h>

static void start(bool fails) {
    std::thread worker([] {});
    if (fails)
        throw std::runtime_error("not started");
    worker.join();
}

SELVEDGE_TEST(nobody_joins) {
    try {
        start(true);
    } catch (const std::runtime_error &) {
    }
}
