// Two threads ask for the only instance at the same time.
#include <cassert>
#include <string>
#include <thread>
#include <vector>

#include <selvedge.h>

class Registry {
  public:
    static Registry &instance() {
        static Registry only;
        return only;
    }
    std::vector<std::string> names;

  private:
    Registry() : names{"a", "b"} { made++; }
    static int made;
    friend void check();
};

int Registry::made = 0;

void check() { assert(Registry::made == 1); }

SELVEDGE_TEST(only_instance) {
    std::thread other([] { assert(Registry::instance().names.size() == 2); });
    assert(Registry::instance().names[1] == "b");
    other.join();
    check();
}
