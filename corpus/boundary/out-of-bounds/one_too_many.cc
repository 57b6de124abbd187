// The last index is one too large.
#include <cassert>
#include <memory>
#include <thread>

#include <selvedge.h>

SELVEDGE_TEST(one_too_many) {
    std::unique_ptr<int[]> numbers(new int[4]());
    std::thread other([&] {
        for (int i = 0; i <= 4; i++)
            numbers[i] = i;
    });
    other.join();
    assert(numbers[3] == 3);
}
