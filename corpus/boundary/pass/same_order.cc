// Transfers in both directions take the locks by address.
#include <cassert>
#include <functional>
#include <mutex>
#include <thread>

#include <selvedge.h>

struct Account {
    std::mutex lock;
    int balance = 100;
};

static void transfer(Account &from, Account &to, int amount) {
    bool ordered = std::less<>()(&from, &to);
    std::lock_guard<std::mutex> first(ordered ? from.lock : to.lock);
    std::lock_guard<std::mutex> second(ordered ? to.lock : from.lock);
    from.balance -= amount;
    to.balance += amount;
}

SELVEDGE_TEST(same_order) {
    Account one, other;
    std::thread thread([&] { transfer(one, other, 10); });
    transfer(other, one, 20);
    thread.join();
    assert(one.balance == 110 && other.balance == 90);
}
