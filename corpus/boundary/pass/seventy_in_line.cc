// Seventy threads, each started when the one before has ended.
#include <cassert>
#include <mutex>
#include <thread>

#include <selvedge.h>

SELVEDGE_TEST(seventy_in_line) {
    std::mutex lock;
    int count = 0;
    for (int i = 0; i < 70; i++) {
        std::thread worker([&] {
            std::lock_guard<std::mutex> guard(lock);
            count++;
        });
        worker.join();
    }
    assert(count == 70);
}
