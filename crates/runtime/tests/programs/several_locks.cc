// `std::lock` takes several locks in any order: it gives back what it has when it cannot have all, and tries again. Two of them can keep each other
// from that for ever, if the schedule is made so.
#include <cassert>
#include <mutex>
#include <selvedge.h>
#include <thread>

static std::mutex a, b, c;
static int count;

template <class First, class Second> static void both(First first, Second second) {
    std::thread one(first), other(second);
    one.join();
    other.join();
}

static void all() {
    std::lock(a, b, c);
    count++;
    a.unlock();
    b.unlock();
    c.unlock();
}

static void forwards() {
    std::lock(a, b);
    count++;
    a.unlock();
    b.unlock();
}

static void backwards() {
    std::lock(b, a);
    count++;
    a.unlock();
    b.unlock();
}

SELVEDGE_TEST(same_order) {
    both(forwards, forwards);
    assert(count == 2);
}

SELVEDGE_TEST(opposite_order) {
    both(forwards, backwards);
    assert(count == 2);
}

SELVEDGE_TEST(two_of_three) {
    both(all, backwards);
    assert(count == 2);
}

SELVEDGE_TEST(wrong) {
    both(forwards, [] {
        std::lock(b, a);
        if (count == 1)
            count = 3;
        a.unlock();
        b.unlock();
    });
    assert(count == 1);
}
