// A global container that a constructor filled before the first run.
#include <cassert>
#include <thread>
#include <vector>

#include <selvedge.h>

std::vector<int> numbers = {1, 2, 3};

SELVEDGE_TEST(global_vector) {
    std::thread other([] { assert(numbers[0] == 1); });
    other.join();
    numbers[0]++;
    assert(numbers[0] == 2);
    numbers.push_back(4);
    assert(numbers.size() == 4);
}
