/* A load and a store of three bytes, and of twenty-four: what comes in between is lost. */
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

template <int SIZE> struct Bytes {
    char all[SIZE];
};

template <int SIZE> static void two_counts() {
    std::atomic<Bytes<SIZE>> shared{};
    auto count = [&] {
        Bytes<SIZE> seen = shared.load();
        seen.all[SIZE - 1]++;
        shared.store(seen);
    };
    std::thread other(count);
    count();
    other.join();
    assert(shared.load().all[SIZE - 1] == 2);
}

SELVEDGE_TEST(three_bytes) {
    two_counts<3>();
}

SELVEDGE_TEST(twenty_four_bytes) {
    two_counts<24>();
}
