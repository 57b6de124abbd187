// A global engine draws the same numbers in each run; which thread gets which is open.
#include <cassert>
#include <mutex>
#include <random>
#include <thread>

#include <selvedge.h>

static std::mt19937 engine(42);
static std::mutex lock;
static unsigned long drawn;

static void draw() {
    std::lock_guard<std::mutex> held(lock);
    drawn ^= engine();
}

SELVEDGE_TEST(random_engine) {
    std::mt19937 same(42);
    unsigned long expected = same();
    expected ^= same();
    std::thread other(draw);
    draw();
    other.join();
    assert(drawn == expected);
}
