// A global table that a constructor filled grows in the test.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include <selvedge.h>

static std::unordered_map<std::string, int> words = {{"one", 1}, {"two", 2}};
static std::mutex lock;

static void fill(const char *prefix) {
    std::lock_guard<std::mutex> held(lock);
    for (int i = 0; i < 20; i++)
        words[prefix + std::to_string(i)] = i;
}

SELVEDGE_TEST(hash_table) {
    assert(words.size() == 2 && words["two"] == 2);
    std::thread other(fill, "other ");
    fill("own ");
    other.join();
    assert(words.size() == 42 && words["other 7"] == 7);
}
