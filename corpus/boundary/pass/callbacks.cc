// Handlers that constructors registered in other objects, called by two threads.
#include <cassert>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <selvedge.h>

using Handlers = std::map<std::string, std::function<void(int)>>;

static Handlers &handlers() {
    static Handlers all;
    return all;
}

static std::mutex lock;
static int sum;

struct Handler {
    Handler(std::string name, int factor) {
        handlers()[std::move(name)] = [factor](int value) {
            std::lock_guard<std::mutex> held(lock);
            sum += factor * value;
        };
    }
};

static Handler twice("twice", 2), thrice("thrice", 3);

SELVEDGE_TEST(callbacks) {
    std::thread other([] { handlers().at("twice")(10); });
    handlers().at("thrice")(100);
    other.join();
    assert(sum == 320);
    handlers().erase("twice");
    assert(handlers().size() == 1);
}
