// The count of a shared_ptr is atomic; the pointer itself is not.
#include <memory>
#include <thread>

#include <selvedge.h>

static std::shared_ptr<int> current = std::make_shared<int>(1);

SELVEDGE_TEST(one_pointer_for_two) {
    std::thread other([] { current = std::make_shared<int>(2); });
    std::shared_ptr<int> own = current;
    other.join();
}
