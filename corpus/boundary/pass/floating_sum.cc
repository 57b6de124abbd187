// flags: -std=c++20
// Updates of atomic numbers with a point, and an atomic_ref.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

static std::atomic<double> sum{0};
static int plain;

SELVEDGE_TEST(floating_sum) {
    auto add = [](double value) {
        sum += value;
        std::atomic_ref<int>(plain)++;
    };
    std::thread other(add, 0.5);
    add(0.25);
    other.join();
    assert(sum == 0.75 && plain == 2);
}
