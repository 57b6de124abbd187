/* Atomic objects of sizes that the processor has no instruction for: compilers call libatomic for them, and no sanitizer sees that. */
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

struct Three {
    char all[3];
};

struct Pair {
    long first, middle, last;
};

static std::atomic<Three> colour;
static std::atomic<Pair> both;

static void paint() {
    Three seen = colour.load();
    while (!colour.compare_exchange_weak(seen, {{char(seen.all[0] + 1), 0, char(seen.all[2] + 1)}}))
        ;
}

SELVEDGE_TEST(every_update_counts) {
    std::thread other(paint);
    paint();
    other.join();
    assert(colour.load().all[0] == 2 && colour.load().all[2] == 2);
}

SELVEDGE_TEST(never_half) {
    std::thread other([] { both.store({1, 2, 3}); });
    Pair old = both.exchange({4, 5, 6});
    assert(old.last == 3 * old.first);
    other.join();
}

SELVEDGE_TEST(publishes) {
    int data = 0;
    std::thread other([&] {
        data = 1;
        both.store({0, 0, 1}, std::memory_order_release);
    });
    while (both.load(std::memory_order_acquire).last == 0)
        ;
    assert(data == 1);
    other.join();
}
