// The object is made once, and published with release and acquire.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include <selvedge.h>

static std::atomic<std::string *> name{nullptr};
static std::mutex lock;

static std::string &get() {
    std::string *seen = name.load(std::memory_order_acquire);
    if (!seen) {
        std::lock_guard<std::mutex> held(lock);
        seen = name.load(std::memory_order_acquire);
        if (!seen) {
            seen = new std::string("made");
            name.store(seen, std::memory_order_release);
        }
    }
    return *seen;
}

SELVEDGE_TEST(lazy_with_order) {
    std::size_t size = 0;
    std::thread other([&] { size = get().size(); });
    if (get().size() != 4)
        size = 0;
    other.join();
    delete name.load();
}
