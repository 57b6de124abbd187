// flags: -std=c++20
// In C++20 a relaxed store of the thread that released does not continue its release sequence.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

static int data;
static std::atomic<int> stage{0};

SELVEDGE_TEST(interrupted_release) {
    std::thread publisher([] {
        data = 42;
        stage.store(1, std::memory_order_release);
        stage.store(2, std::memory_order_relaxed);
    });
    if (stage.load(std::memory_order_acquire) == 2)
        assert(data == 42);
    publisher.join();
}
