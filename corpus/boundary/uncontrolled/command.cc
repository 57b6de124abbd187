// A command of the shell.
#include <cassert>
#include <cstdlib>
#include <thread>

#include <selvedge.h>

SELVEDGE_TEST(command) {
    std::thread other([] { assert(std::system("true") == 0); });
    other.join();
}
