// A thread looks under the lock whether there is something, and sleeps in between.
#include <cassert>
#include <chrono>
#include <mutex>
#include <queue>
#include <thread>

#include <selvedge.h>

static std::mutex lock;
static std::queue<int> jobs;

static int take() {
    for (;;) {
        {
            std::lock_guard<std::mutex> held(lock);
            if (!jobs.empty()) {
                int job = jobs.front();
                jobs.pop();
                return job;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

SELVEDGE_TEST(sleeps_between_looks) {
    std::thread producer([] {
        std::lock_guard<std::mutex> held(lock);
        jobs.push(7);
    });
    assert(take() == 7);
    producer.join();
}
