// A list grows into another block, and the pointer to it is announced by a relaxed store.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <thread>

static std::atomic<int *> numbers;

int main() {
    int *first = static_cast<int *>(std::malloc(4 * sizeof(int)));
    for (int i = 0; i < 4; i++)
        first[i] = i;
    std::thread reader([] {
        if (int *seen = numbers.load(std::memory_order_relaxed))
            assert(seen[3] == 3);
    });
    int *grown = static_cast<int *>(std::realloc(first, 64 * sizeof(int)));
    assert(grown != nullptr);
    numbers.store(grown, std::memory_order_relaxed);
    reader.join();
    std::free(grown);
}
