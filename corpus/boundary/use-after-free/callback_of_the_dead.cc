// The object is deleted while a thread that it started still calls it.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

#include <selvedge.h>

struct Session {
    std::atomic<int> calls{0};
    void call() { calls++; }
};

SELVEDGE_TEST(callback_of_the_dead) {
    auto *session = new Session;
    std::atomic<bool> started{false};
    std::thread other([&] {
        started = true;
        session->call();
    });
    while (!started)
        ;
    delete session;
    other.join();
}
