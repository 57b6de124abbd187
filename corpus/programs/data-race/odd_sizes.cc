/* A relaxed store publishes nothing, whatever its size. */
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

struct Pair {
    long first, middle, last;
};

SELVEDGE_TEST(relaxed) {
    std::atomic<Pair> both{};
    int data = 0;
    std::thread other([&] {
        data = 1;
        both.store({0, 0, 1}, std::memory_order_relaxed);
    });
    if (both.load(std::memory_order_relaxed).last)
        assert(data == 1);
    other.join();
}
