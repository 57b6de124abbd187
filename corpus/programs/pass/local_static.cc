// Local statics: whoever comes first initialises, the others wait and see all of it. An exception leaves it as if it had not begun.
#include <atomic>
#include <cassert>
#include <mutex>
#include <selvedge.h>
#include <thread>

struct Settings {
    int level;
    Settings() : level(5) {}
    ~Settings() { level = 0; }
};

static Settings &settings() {
    static Settings only;
    return only;
}

SELVEDGE_TEST(local_static) {
    auto use = [] { assert(settings().level == 5); };
    std::thread other(use);
    use();
    other.join();
}

SELVEDGE_TEST(three_at_one_local_static) {
    auto use = [] { assert(settings().level == 5); };
    std::thread first(use), second(use), third(use);
    first.join();
    second.join();
    third.join();
}

static std::atomic<int> tries;

struct Fragile {
    int value;
    Fragile() {
        if (tries++ == 0)
            throw 1;
        value = 7;
    }
};

static int fragile() {
    static Fragile only;
    return only.value;
}

SELVEDGE_TEST(exception_in_local_static) {
    auto use = [] {
        try {
            assert(fragile() == 7);
        } catch (int) {
        }
    };
    std::thread first(use), second(use);
    first.join();
    second.join();
    assert(tries == 2);
}

/* A new flag where an old one was. */
static void initialise_anew() {
    std::once_flag once;
    int initialised = 0;
    std::call_once(once, [&] { initialised = 1; });
    assert(initialised == 1);
}

SELVEDGE_TEST(once_after_once) {
    auto use = [] {
        initialise_anew();
        initialise_anew();
    };
    std::thread other(use);
    use();
    other.join();
}

static std::once_flag once;

SELVEDGE_TEST(exception_in_call_once) {
    auto use = [] {
        try {
            std::call_once(once, [] {
                if (tries++ == 0)
                    throw 1;
            });
        } catch (int) {
        }
    };
    std::thread first(use), second(use);
    first.join();
    second.join();
    assert(tries == 2);
}
