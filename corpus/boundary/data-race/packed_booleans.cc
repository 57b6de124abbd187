// Elements of std::vector<bool> share words.
#include <thread>
#include <vector>

#include <selvedge.h>

static std::vector<bool> done(2);

SELVEDGE_TEST(packed_booleans) {
    std::thread other([] { done[0] = true; });
    done[1] = true;
    other.join();
}
