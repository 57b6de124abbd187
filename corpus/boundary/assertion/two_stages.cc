// Twenty-nine writers go through two stages, each under a lock of its own; a reader that comes in between sees the first stage without the second.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

#include <selvedge.h>

static std::mutex first_lock, second_lock;
static int first, second;

static void write() {
    int stage;
    {
        std::lock_guard<std::mutex> guard(first_lock);
        stage = first = 1;
    }
    std::lock_guard<std::mutex> guard(second_lock);
    second = stage + 1;
}

static void read() {
    int stage;
    {
        std::lock_guard<std::mutex> guard(first_lock);
        if (first == 0)
            return;
        stage = first;
    }
    std::lock_guard<std::mutex> guard(second_lock);
    assert(second == stage + 1);
}

SELVEDGE_TEST(two_stages) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 29; i++)
        threads.emplace_back(write);
    threads.emplace_back(read);
    for (auto &thread : threads)
        thread.join();
}
