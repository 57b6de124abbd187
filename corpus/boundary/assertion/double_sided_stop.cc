// A stop is asked for, but a job that came in between is dropped.
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

#include <selvedge.h>

class Pool {
  public:
    Pool() : worker([this] { run(); }) {}
    ~Pool() {
        {
            std::lock_guard<std::mutex> held(lock);
            stop = true;
        }
        changed.notify_all();
        worker.join();
    }
    void submit(std::function<void()> job) {
        {
            std::lock_guard<std::mutex> held(lock);
            jobs.push(std::move(job));
        }
        changed.notify_one();
    }

  private:
    void run() {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> held(lock);
                changed.wait(held, [this] { return stop || !jobs.empty(); });
                if (stop)
                    return;
                job = std::move(jobs.front());
                jobs.pop();
            }
            job();
        }
    }
    std::mutex lock;
    std::condition_variable changed;
    std::queue<std::function<void()>> jobs;
    bool stop = false;
    std::thread worker;
};

SELVEDGE_TEST(double_sided_stop) {
    int done = 0;
    {
        Pool pool;
        pool.submit([&] { done++; });
    }
    assert(done == 1);
}
