// The destructor of a base waits for the last call of the object, which is no longer of the class that the call is meant for.
#include <atomic>
#include <thread>

struct listener {
    std::atomic<bool> told{false};

    virtual void notify() { told.store(true, std::memory_order_release); }

    virtual ~listener() {
        while (!told.load(std::memory_order_acquire))
            std::this_thread::yield();
    }
};

struct counter : listener {
    std::atomic<int> calls{0};

    void notify() override {
        calls++;
        listener::notify();
    }
};

int main() {
    counter *object = new counter;
    std::thread teller([object] {
        listener *known = object;
        known->notify();
    });
    delete object;
    teller.join();
}
