/* One of the sizes that the test chooses does not fit, and only while the other thread is inside. */
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

static std::atomic<int> used{0};

SELVEDGE_TEST(fits) {
    std::thread other([] {
        used += 2;
        used -= 2;
    });
    const int size = static_cast<int>(selvedge_choose(4));
    assert(used + size <= 4);
    other.join();
}
