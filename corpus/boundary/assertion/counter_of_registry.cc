// What a constructor put into the registry is counted, and one more may come first.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <selvedge.h>

static std::vector<std::string> plugins = {"built in"};
static std::mutex lock;

SELVEDGE_TEST(counter_of_registry) {
    std::thread loader([] {
        std::lock_guard<std::mutex> held(lock);
        plugins.emplace_back("loaded");
    });
    {
        std::lock_guard<std::mutex> held(lock);
        assert(plugins.size() == 1);
    }
    loader.join();
}
