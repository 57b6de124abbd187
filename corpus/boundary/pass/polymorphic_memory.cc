// flags: -std=c++17
// Resources of memory, and operators new of a class.
#include <cassert>
#include <cstdlib>
#include <list>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <selvedge.h>

struct Counted {
    static inline int live = 0;
    static void *operator new(std::size_t size) {
        live++;
        return std::malloc(size);
    }
    static void operator delete(void *place) {
        live--;
        std::free(place);
    }
    std::variant<int, std::string> value = "text that needs memory of its own";
};

SELVEDGE_TEST(polymorphic_memory) {
    char room[1024];
    std::pmr::monotonic_buffer_resource resource(room, sizeof room);
    std::pmr::vector<int> numbers({1, 2, 3}, &resource);
    auto *counted = new Counted;
    std::thread other([&] {
        numbers.push_back(4);
        delete counted;
    });
    other.join();
    assert(numbers.size() == 4 && Counted::live == 0);
}
