// A file that the test writes stays behind.
#include <cassert>
#include <fstream>
#include <mutex>
#include <thread>

#include <selvedge.h>

static std::mutex lock;

static void record(int number) {
    std::lock_guard<std::mutex> held(lock);
    std::ofstream file("/tmp/record of a test", std::ios::app);
    file << number << '\n';
}

SELVEDGE_TEST(written_file) {
    std::thread other(record, 1);
    record(2);
    other.join();
}
