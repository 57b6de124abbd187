// The numbers of std::random_device are the same in every run, as other random numbers are.
#include <atomic>
#include <cassert>
#include <random>
#include <selvedge.h>
#include <thread>

static std::atomic<int> cell;

SELVEDGE_TEST(random_device) {
    auto work = [] {
        std::random_device device;
        for (unsigned i = 0; i < 1 + device() % 4; i++)
            cell++;
    };
    std::thread other(work);
    work();
    other.join();
    assert(cell >= 2);
}
