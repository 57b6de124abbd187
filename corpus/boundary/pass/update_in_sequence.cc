// flags: -std=c++20
// An update by another thread, of any order, belongs to the release sequence.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

static int data;
static std::atomic<int> stage{0};

SELVEDGE_TEST(update_in_sequence) {
    std::thread publisher([] {
        data = 42;
        stage.store(1, std::memory_order_release);
    });
    std::thread between([] { stage.fetch_add(10, std::memory_order_relaxed); });
    if (stage.load(std::memory_order_acquire) == 11)
        data++;
    publisher.join();
    between.join();
    assert(data == 42 || data == 43);
}
