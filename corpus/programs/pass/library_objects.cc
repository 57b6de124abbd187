// What the C++ library remembers, local statics and thread-local objects are as they were at the beginning in every run.
#include <atomic>
#include <cassert>
#include <iostream>
#include <locale>
#include <memory>
#include <new>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <selvedge.h>

static std::atomic<int> steps;

// Two runs at least.
static void runs() {
    std::thread other([] { steps++; });
    steps++;
    other.join();
}

SELVEDGE_TEST(streams) {
    assert(!(std::cout.flags() & std::ios::hex));
    std::cout << std::hex << 255 << '\n';
    assert(std::locale().name() == "C");
    std::locale::global(std::locale("C.UTF-8"));
    std::cout.imbue(std::locale());
    runs();
}

SELVEDGE_TEST(facets) {
    std::locale place(std::locale(), new std::numpunct<char>);
    std::ostringstream text;
    text.imbue(place);
    text << 12345 << ' ' << 1.5;
    assert(text.str() == "12345 1.5");
    assert(std::regex_match("aaab", std::regex("a+b")));
    runs();
}

static std::string &lazy() {
    static std::string *text = new std::string(100, 'q');
    return *text;
}

static std::vector<int> &local() {
    static std::vector<int> numbers(10, 1);
    return numbers;
}

SELVEDGE_TEST(statics) {
    assert(lazy().size() == 100 && local().size() == 10);
    lazy() += "w";
    local().push_back(2);
    runs();
}

static thread_local std::string own = "of this thread, and too long to be stored inside";
static thread_local std::unique_ptr<int> number(new int(1));

static void change() {
    assert(own.size() == 48 && *number == 1);
    own += " of it";
    (*number)++;
    assert(own.size() == 54 && *number == 2);
    steps++;
}

SELVEDGE_TEST(thread_locals) {
    std::thread other(change);
    change();
    other.join();
}

static void out_of_memory() { throw std::bad_alloc(); }

SELVEDGE_TEST(handlers) {
    assert(!std::get_new_handler());
    std::set_new_handler(out_of_memory);
    try {
        throw std::runtime_error("a message that is too long to be stored inside of the object");
    } catch (const std::exception &caught) {
        assert(caught.what()[0] == 'a');
    }
    runs();
}
