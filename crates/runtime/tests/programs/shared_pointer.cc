// Atomic shared pointers: C++20's, whose lock is a bit of a pointer and is compiled with the program, and the functions before them, whose locks are in the
// library.
#include <atomic>
#include <cassert>
#include <memory>
#include <selvedge.h>
#include <thread>

using Pointer = std::shared_ptr<int>;

template <class First, class Second> static void both(First first, Second second) {
    std::thread one(first), other(second);
    one.join();
    other.join();
}

SELVEDGE_TEST(stores) {
    std::atomic<Pointer> pointer(std::make_shared<int>(0));
    both([&] { pointer.store(std::make_shared<int>(1)); }, [&] { pointer.store(std::make_shared<int>(2)); });
    assert(*pointer.load() > 0);
}

SELVEDGE_TEST(exchanges) {
    std::atomic<Pointer> pointer(std::make_shared<int>(0));
    Pointer before = pointer.load();
    std::atomic<int> count{0};
    auto replace = [&] {
        Pointer expected = before;
        if (pointer.compare_exchange_strong(expected, std::make_shared<int>(1)))
            count++;
    };
    both(replace, replace);
    assert(count == 1);
}

SELVEDGE_TEST(loads) {
    std::atomic<Pointer> pointer(std::make_shared<int>(0));
    auto look = [&] { assert(*pointer.load() == 0); };
    both(look, look);
}

SELVEDGE_TEST(load_and_store) {
    std::atomic<Pointer> pointer(std::make_shared<int>(0));
    both([&] { pointer.store(std::make_shared<int>(1)); }, [&] { assert(*pointer.load() < 2); });
}

SELVEDGE_TEST(functions) {
    Pointer pointer = std::make_shared<int>(0);
    both([&] { std::atomic_store(&pointer, std::make_shared<int>(1)); },
         [&] { assert(*std::atomic_load(&pointer) < 2); });
}

SELVEDGE_TEST(function_and_plain_copy) {
    Pointer pointer = std::make_shared<int>(0);
    both([&] { std::atomic_store(&pointer, std::make_shared<int>(1)); }, [&] { Pointer copy = pointer; });
}
