// Each thread takes a slot when it first needs one, and gives it back when it ends: two slots suffice for threads that come one after the other.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

static std::atomic<bool> taken[2];

class Slot {
  public:
    Slot() {
        for (;;)
            for (int i = 0; i < 2; i++)
                if (!taken[i].exchange(true)) {
                    number = i;
                    return;
                }
    }
    ~Slot() { taken[number] = false; }
    int number;
};

static int slot() {
    thread_local Slot own;
    return own.number;
}

SELVEDGE_TEST(slots_given_back) {
    std::thread one([] { assert(slot() < 2); }), other([] { assert(slot() < 2); });
    one.join();
    other.join();
    std::thread late([] { assert(slot() == 0); });
    late.join();
}
