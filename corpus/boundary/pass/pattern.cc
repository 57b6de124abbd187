// A global pattern is read by two threads.
#include <cassert>
#include <regex>
#include <string>
#include <thread>

#include <selvedge.h>

static const std::regex assignment("([a-z]+)=([0-9]+)");

static int value(const std::string &line) {
    std::smatch parts;
    return std::regex_match(line, parts, assignment) ? std::stoi(parts[2]) : -1;
}

SELVEDGE_TEST(pattern) {
    int width = 0, nothing = 0;
    std::thread other([&] { width = value("width=12"); });
    nothing = value("width=x");
    other.join();
    assert(width == 12 && nothing == -1);
}
