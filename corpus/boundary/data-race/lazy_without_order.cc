// The object is made once, but the pointer to it is published with no order.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include <selvedge.h>

static std::atomic<std::string *> name{nullptr};
static std::mutex lock;

static std::string &get() {
    std::string *seen = name.load(std::memory_order_relaxed);
    if (!seen) {
        std::lock_guard<std::mutex> held(lock);
        seen = name.load(std::memory_order_relaxed);
        if (!seen) {
            seen = new std::string("made");
            name.store(seen, std::memory_order_relaxed);
        }
    }
    return *seen;
}

SELVEDGE_TEST(lazy_without_order) {
    std::size_t size = 0;
    std::thread other([&] { size = get().size(); });
    if (get().size() != 4)
        size = 0;
    other.join();
}
