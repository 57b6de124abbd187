/* Two threads hold one exception, and both change it. */
#include <exception>
#include <selvedge.h>
#include <thread>

struct Count {
    int value;
};

SELVEDGE_TEST(both_count) {
    auto held = std::make_exception_ptr(Count{0});
    auto count = [](std::exception_ptr held) {
        try {
            std::rethrow_exception(held);
        } catch (Count &count) {
            count.value++;
        }
    };
    std::thread one(count, held), other(count, held);
    one.join();
    other.join();
}
