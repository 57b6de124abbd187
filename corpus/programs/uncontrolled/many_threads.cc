// More threads than one run can have.
#include <atomic>
#include <cassert>
#include <selvedge.h>
#include <thread>
#include <vector>

SELVEDGE_TEST(many_threads) {
    std::atomic<int> count{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 600; i++)
        threads.emplace_back([&] { count++; });
    for (auto &thread : threads)
        thread.join();
    assert(count == 600);
}
