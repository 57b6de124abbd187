// One thread appends to the global list that another walks through.
#include <cassert>
#include <list>
#include <thread>

#include <selvedge.h>

static std::list<int> numbers = {1, 2, 3};

SELVEDGE_TEST(grows_while_read) {
    int sum = 0;
    std::thread reader([&] {
        for (int number : numbers)
            sum += number;
    });
    numbers.push_back(4);
    reader.join();
    assert(sum == 6 || sum == 10);
}
