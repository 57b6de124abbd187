// Each of two waits that the other comes first.
#include <atomic>
#include <thread>

#include <selvedge.h>

static std::atomic<bool> left{false}, right{false};

SELVEDGE_TEST(waits_for_itself) {
    std::thread other([] {
        while (!left)
            std::this_thread::yield();
        right = true;
    });
    while (!right)
        std::this_thread::yield();
    left = true;
    other.join();
}
