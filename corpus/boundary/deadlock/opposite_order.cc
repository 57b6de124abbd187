// Two transfers in opposite directions take the locks of the accounts in opposite order.
#include <mutex>
#include <thread>

#include <selvedge.h>

struct Account {
    std::mutex lock;
    int balance = 100;
};

static void transfer(Account &from, Account &to, int amount) {
    std::lock_guard<std::mutex> first(from.lock);
    std::lock_guard<std::mutex> second(to.lock);
    from.balance -= amount;
    to.balance += amount;
}

SELVEDGE_TEST(opposite_order) {
    Account one, other;
    std::thread thread([&] { transfer(one, other, 10); });
    transfer(other, one, 20);
    thread.join();
}
