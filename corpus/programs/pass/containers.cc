// Lists, trees and strings that a lock guards, that all only read, or that one thread has alone; and what is read and written beside one another.
#include <cassert>
#include <list>
#include <map>
#include <mutex>
#include <selvedge.h>
#include <set>
#include <string>
#include <thread>

static volatile std::size_t seen;

template <class One, class Other> static void both(One one, Other other) {
    std::thread thread(one);
    other();
    thread.join();
}

SELVEDGE_TEST(guarded) {
    std::map<int, int> numbers{{1, 1}};
    std::list<int> order{1};
    std::string text;
    std::mutex mutex;
    auto change = [&](int number) {
        std::lock_guard<std::mutex> lock(mutex);
        numbers[number] = number;
        order.push_back(number);
        text += "x";
        for (auto &entry : numbers)
            assert(entry.first == entry.second);
    };
    both([&] { change(2); }, [&] { change(3); });
    assert(numbers.size() == 3 && order.size() == 3 && text.size() == 2);
}

SELVEDGE_TEST(only_read) {
    std::set<std::string> words{"one", "two", "three"};
    auto look = [&] {
        std::size_t forwards = 0, backwards = 0;
        for (auto &word : words)
            forwards += word.size();
        for (auto at = words.rbegin(); at != words.rend(); ++at)
            backwards += at->size();
        assert(forwards == 11 && backwards == 11);
    };
    both(look, look);
}

// The new node is the right child of the one node; who looks for that goes to the left.
SELVEDGE_TEST(other_side) {
    std::map<int, int> numbers{{1, 1}};
    both([&] { numbers[2] = 2; }, [&] { seen = numbers.count(1); });
}

static void use_alone() {
    unsigned state = 1;
    std::map<int, int> numbers;
    bool inside[64] = {};
    for (int round = 0; round < 2000; round++) {
        state = state * 1103515245 + 12345;
        int number = state >> 16 & 63;
        inside[number] = state >> 8 & 1;
        if (inside[number])
            numbers[number] = round;
        else
            numbers.erase(number);
    }
    int last = -1;
    for (auto &entry : numbers) {
        for (last++; last < entry.first; last++)
            assert(!inside[last]);
        assert(inside[last]);
    }
    std::size_t count = 0;
    for (auto at = numbers.end(); at != numbers.begin(); --at)
        count++;
    assert(count == numbers.size());

    std::list<int> some{5, 3, 1, 4}, others{9, 8}, none;
    some.sort();
    some.reverse();
    assert(some.front() == 5);
    some.swap(others);
    some.splice(some.end(), others);
    assert(some.size() == 6 && others.empty());
    some.swap(none);
    none.remove(8);
    some.merge(none);
    assert(some.size() == 5 && some.back() == 1);
    none.reverse();
    some.splice(some.begin(), none);
}

SELVEDGE_TEST(alone) { both(use_alone, use_alone); }
