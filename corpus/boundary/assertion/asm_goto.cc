// only: gcc
/* A trylock with asm goto that leaves the lock held on one way out. */
#include <cassert>
#include <selvedge.h>
#include <thread>

static unsigned bits;

static bool try_lock() {
    asm goto("lock; btsl $0, %0\n\tjc %l[busy]" : : "m"(bits) : "memory", "cc" : busy);
    return true;
busy:
    return false;
}

static void unlock() { asm volatile("lock; andl $-2, %0" : "+m"(bits) : : "memory", "cc"); }

static int done;

static void work(bool early) {
    if (!try_lock())
        return;
    asm volatile("lock; incl %0" : "+m"(done));
    if (early)
        return;
    unlock();
}

SELVEDGE_TEST(it_can_be_taken_again) {
    std::thread one(work, true), other(work, false);
    one.join();
    other.join();
    assert(try_lock());
}
