// The thread is joined under the lock that it needs.
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::mutex lock;
static int jobs;

SELVEDGE_TEST(joined_under_lock) {
    std::thread worker([] {
        std::lock_guard<std::mutex> held(lock);
        jobs++;
    });
    std::lock_guard<std::mutex> held(lock);
    worker.join();
}
