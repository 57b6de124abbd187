/* The reader only cares for runs in which the second write has come; the error needs that and the third one not to have. */
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>

static std::atomic<int> version{0}, done{0};

SELVEDGE_TEST(half_way) {
    std::thread writer([] {
        version = 1;
        version = 2;
        done = 1;
    });
    std::thread reader([] {
        int *seen = nullptr;
        int found = version;
        if (found == 2) seen = &found;
        selvedge_assume(seen);
        assert(done);
    });
    writer.join();
    reader.join();
}
