// Containers that one thread changes and another reads, unlocked. Nodes of lists and trees are linked by functions of libstdc++, which is not instrumented, and up to
// C++17 most of what strings do lies there, too.
#include <list>
#include <map>
#include <selvedge.h>
#include <set>
#include <string>
#include <thread>

static volatile std::size_t seen;

template <class Change, class Look> static void both(Change change, Look look) {
    std::thread other(change);
    look();
    other.join();
}

SELVEDGE_TEST(empty_list) {
    std::list<int> numbers;
    both([&] { numbers.push_back(1); }, [&] { seen = numbers.empty(); });
}

SELVEDGE_TEST(list_that_shrinks) {
    std::list<int> numbers{1, 2, 3};
    both([&] { numbers.pop_back(); }, [&] { seen = *std::prev(numbers.end()); });
}

SELVEDGE_TEST(spliced_list) {
    std::list<int> numbers{1, 2, 3}, others;
    both([&] { others.splice(others.begin(), numbers, numbers.begin()); }, [&] { seen = numbers.front(); });
}

SELVEDGE_TEST(reversed_list) {
    std::list<int> numbers{1, 2, 3};
    both([&] { numbers.reverse(); }, [&] { seen = *std::next(numbers.begin()); });
}

SELVEDGE_TEST(exchanged_list) {
    std::list<int> numbers{1, 2, 3}, others;
    both([&] { others.swap(numbers); }, [&] { seen = numbers.empty(); });
}

SELVEDGE_TEST(map_that_grows) {
    std::map<int, int> numbers{{1, 1}};
    both([&] { numbers[2] = 2; }, [&] { seen = numbers.count(3); });
}

SELVEDGE_TEST(map_that_shrinks) {
    std::map<int, int> numbers{{1, 1}, {2, 2}};
    both([&] { numbers.erase(2); }, [&] { seen = numbers.count(3); });
}

SELVEDGE_TEST(set_gone_through) {
    std::multiset<int> numbers{1, 2, 3};
    both([&] { numbers.insert(4); },
         [&] {
             for (auto at = numbers.rbegin(); at != numbers.rend(); ++at)
                 seen = *at;
         });
}

SELVEDGE_TEST(string_that_grows) {
    std::string text;
    both([&] { text += "x"; }, [&] { seen = text.size(); });
}

SELVEDGE_TEST(string_that_is_assigned) {
    std::string text;
    both([&] { text = "ready"; }, [&] { seen = text == "ready"; });
}
