// Global objects that own memory: every test finds them as their constructors left them.
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <selvedge.h>

static std::mutex guard;
static std::vector<int> numbers = {1, 2, 3};
static std::map<std::string, int> ages = {{"ada", 36}, {"alan", 41}};
static std::string name = "a name that is too long to be stored inside of the object";
static auto owned = std::make_unique<int>(7);

// What the constructors of other objects fill.
static std::vector<std::function<int()>> &registry() {
    static std::vector<std::function<int()>> all;
    return all;
}

struct Registered {
    explicit Registered(int value) {
        registry().push_back([value] { return value; });
    }
};

static Registered first(1), second(2);

template <typename Body> static void both(Body body) {
    std::thread other(body);
    body();
    other.join();
}

SELVEDGE_TEST(vector_grows) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        numbers.push_back(4);
    });
    assert(numbers.size() == 5);
    assert(numbers[0] == 1 && numbers[3] == 4 && numbers[4] == 4);
}

SELVEDGE_TEST(element_counts) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        numbers[0]++;
    });
    assert(numbers[0] == 3);
}

SELVEDGE_TEST(map_changes) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        ages["ada"]++;
        ages.erase("alan");
        ages["grace"] = 85;
    });
    assert(ages.size() == 2);
    assert(ages["ada"] == 38);
}

SELVEDGE_TEST(string_grows) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        name += ", and longer";
    });
    assert(name.size() == 57 + 2 * 12);
}

SELVEDGE_TEST(registry_is_filled) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        registry().push_back([] { return 3; });
    });
    int sum = 0;
    for (auto &entry : registry())
        sum += entry();
    assert(sum == 1 + 2 + 3 + 3);
}

SELVEDGE_TEST(owner_gives_up) {
    both([] {
        std::lock_guard<std::mutex> held(guard);
        owned.reset();
    });
    assert(!owned);
}
