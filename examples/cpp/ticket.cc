// A first test in C++: two threads take a number each. selvedge test examples/cpp/ticket.cc
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

static std::atomic<int> next{1};

static int take() {
    int number = next.load();
    next.store(number + 1); // next.fetch_add(1) would be right
    return number;
}

SELVEDGE_TEST(every_number_is_given_out_once) {
    int mine = 0, yours = 0;
    std::thread other([&] { yours = take(); });
    mine = take();
    other.join();
    assert(mine != yours);
}
