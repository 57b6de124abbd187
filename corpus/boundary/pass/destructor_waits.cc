// A destructor waits until the last call of the object has been made: calls may still be made while it runs.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

struct listener {
    virtual void notify() = 0;
    virtual ~listener() {}
};

struct waiter : listener {
    std::atomic<bool> told{false};

    void notify() override { told.store(true, std::memory_order_release); }

    ~waiter() override {
        while (!told.load(std::memory_order_acquire))
            std::this_thread::yield();
    }
};

int main() {
    waiter *object = new waiter;
    std::thread teller([object] {
        listener *known = object;
        known->notify();
    });
    delete object;
    teller.join();
}
