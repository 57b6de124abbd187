// The code says by an annotation that its fence orders, as libraries do for tools that do not know fences.
#include <atomic>
#include <cassert>
#include <thread>

#include <selvedge.h>

extern "C" void AnnotateHappensBefore(const char *file, int line, void *address);
extern "C" void AnnotateHappensAfter(const char *file, int line, void *address);
extern "C" void AnnotateNewMemory(const char *file, int line, void *address, long size);

static int data;
static std::atomic<bool> ready{false};

SELVEDGE_TEST(said_to_order) {
    AnnotateNewMemory(__FILE__, __LINE__, &data, sizeof data);
    std::thread other([] {
        data = 42;
        AnnotateHappensBefore(__FILE__, __LINE__, &ready);
        ready.store(true, std::memory_order_relaxed);
    });
    if (ready.load(std::memory_order_relaxed)) {
        AnnotateHappensAfter(__FILE__, __LINE__, &ready);
        assert(data == 42);
    }
    other.join();
}
