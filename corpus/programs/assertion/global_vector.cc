// Two threads count in a global vector without a lock around both steps: one count may get lost.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

#include <selvedge.h>

static std::vector<int> counts = {0};
static std::mutex guard;

static void count() {
    int seen;
    {
        std::lock_guard<std::mutex> held(guard);
        seen = counts[0];
    }
    std::lock_guard<std::mutex> held(guard);
    counts[0] = seen + 1;
}

SELVEDGE_TEST(lost_count) {
    std::thread other(count);
    count();
    other.join();
    assert(counts[0] == 2);
}
