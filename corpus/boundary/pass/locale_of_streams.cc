// The global locale and the flags of std::cout come back before each run.
#include <cassert>
#include <iostream>
#include <locale>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include <selvedge.h>

struct Grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return '\''; }
    std::string do_grouping() const override { return "\3"; }
};

static std::mutex lock;
static std::string shown;

static std::string show(int number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

SELVEDGE_TEST(locale_of_streams) {
    assert(show(1234567) == "1234567");
    assert(!(std::cout.flags() & std::ios::hex));
    std::cout << std::hex;
    std::locale::global(std::locale(std::locale(), new Grouped));
    std::thread other([] {
        std::lock_guard<std::mutex> held(lock);
        shown += show(1234567);
    });
    {
        std::lock_guard<std::mutex> held(lock);
        shown += show(1234567);
    }
    other.join();
    assert(shown == "1'234'5671'234'567");
}
