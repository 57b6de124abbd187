// flags: -std=c++17
// A cache behind a lock for readers and writers.
#include <cassert>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>

#include <selvedge.h>

static std::shared_mutex lock;
static std::map<int, std::string> cache = {{1, "one"}};

static std::optional<std::string> find(int key) {
    std::shared_lock<std::shared_mutex> held(lock);
    auto found = cache.find(key);
    return found == cache.end() ? std::nullopt : std::optional<std::string>(found->second);
}

SELVEDGE_TEST(read_mostly) {
    std::thread writer([] {
        std::unique_lock<std::shared_mutex> held(lock);
        cache.emplace(2, "two");
    });
    assert(find(1) == "one");
    auto second = find(2);
    assert(!second || *second == "two");
    writer.join();
    assert(cache.size() == 2);
}
