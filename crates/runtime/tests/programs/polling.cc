// The same as polling.c, with what the C++ library has.
#include <condition_variable>
#include <mutex>
#include <selvedge.h>
#include <shared_mutex>
#include <thread>

static std::mutex mutex;
static std::shared_mutex shared;
static bool done;

template <class Poll, class Set> static void both(Poll poll, Set set) {
    std::thread poller(poll), setter(set);
    poller.join();
    setter.join();
}

static bool look() {
    std::lock_guard<std::mutex> guard(mutex);
    return done;
}

static bool look_together() {
    std::shared_lock<std::shared_mutex> guard(shared);
    return done;
}

SELVEDGE_TEST(guard) {
    both([] { while (!look()) {} }, [] { std::lock_guard<std::mutex> guard(mutex); done = true; });
}

SELVEDGE_TEST(shared_guard) {
    both([] { while (!look_together()) {} }, [] { std::unique_lock<std::shared_mutex> guard(shared); done = true; });
}

SELVEDGE_TEST(guard_nobody) {
    both([] { while (!look()) {} }, [] { std::lock_guard<std::mutex> guard(mutex); });
}
