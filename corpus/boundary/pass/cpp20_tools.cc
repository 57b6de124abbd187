// flags: -std=c++20
// A latch, a barrier, jthread with a stop token, and waiting on an atomic.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>

#include <selvedge.h>

static std::atomic<int> stage{0};

SELVEDGE_TEST(latch) {
    std::latch done(1);
    int result = 0;
    std::jthread worker([&] {
        result = 7;
        done.count_down();
    });
    done.wait();
    assert(result == 7);
}

SELVEDGE_TEST(wait_on_atomic) {
    std::jthread worker([] {
        stage = 1;
        stage.notify_one();
    });
    stage.wait(0);
    assert(stage == 1);
}

SELVEDGE_TEST(stop_token) {
    std::jthread worker([](std::stop_token token) {
        while (!token.stop_requested())
            std::this_thread::yield();
    });
    worker.request_stop();
}
