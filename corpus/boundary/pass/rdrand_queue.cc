/* A queue of several segments, which each thread chooses by chance: Scal's hwrand asks the processor. */
#include <atomic>
#include <cassert>
#include <immintrin.h>
#include <mutex>
#include <selvedge.h>
#include <thread>
#include <vector>
// flags: -mrdrnd -mrdseed

class segmented {
    struct segment {
        std::mutex mutex;
        std::vector<int> items;
    } segments[2];

    static unsigned chance() {
        unsigned number;
        while (!_rdrand32_step(&number))
            _mm_pause();
        unsigned long long seed;
        if (_rdseed64_step(&seed))
            number ^= static_cast<unsigned>(seed >> 32);
        return number;
    }

public:
    void put(int item) {
        segment &at = segments[chance() % 2];
        std::lock_guard<std::mutex> guard(at.mutex);
        at.items.push_back(item);
    }

    int sum() {
        int all = 0;
        for (segment &at : segments)
            for (int item : at.items)
                all += item;
        return all;
    }
};

SELVEDGE_TEST(nothing_is_lost) {
    segmented queue;
    std::thread one([&] { queue.put(1); queue.put(2); }), other([&] { queue.put(4); });
    one.join();
    other.join();
    assert(queue.sum() == 7);
}
