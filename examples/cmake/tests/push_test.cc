#include <cassert>
#include <selvedge.h>
#include <thread>
#include "queue.h"
SELVEDGE_TEST(both_are_there) {
    std::thread other([] { queue_push(1); });
    queue_push(2);
    other.join();
    int a, b;
    assert(queue_pop(&a) && queue_pop(&b) && a + b == 3);
}
