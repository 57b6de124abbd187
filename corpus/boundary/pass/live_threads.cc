// A thread_local object counts the threads that are alive; its destructor belongs to the end of the thread.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

static std::atomic<int> alive{0};

struct Member {
    Member() { alive++; }
    ~Member() { alive--; }
    int visits = 0;
};

static thread_local Member member;

SELVEDGE_TEST(live_threads) {
    auto visit = [] { assert(++member.visits == 1 && alive >= 1); };
    std::thread one(visit), other(visit);
    one.join();
    other.join();
    assert(alive == 0);
}
