// A ring that two threads may not fill at once: selvedge test examples/cpp/ring.cc
#include <atomic>
#include <selvedge.h>

class Ring {
    static constexpr unsigned size = 4;
    std::atomic<int> slots[size];
    std::atomic<unsigned> head{0}, tail{0};

  public:
    bool push(int value) {
        unsigned at = tail.load();
        if (at - head.load() == size)
            return false;
        slots[at % size].store(value);
        tail.store(at + 1);
        return true;
    }

    bool pop(int &value) {
        unsigned at = head.load();
        do {
            if (at == tail.load())
                return false;
            value = slots[at % size].load();
        } while (!head.compare_exchange_weak(at, at + 1));
        return true;
    }
};

static void *create() { return new Ring; }
static void destroy(void *ring) { delete static_cast<Ring *>(ring); }

static selvedge_value push(void *ring, const selvedge_value *arguments) {
    return static_cast<Ring *>(ring)->push(static_cast<int>(arguments[0])) ? SELVEDGE_VOID : SELVEDGE_FAIL;
}

static selvedge_value pop(void *ring, const selvedge_value *) {
    int value;
    return static_cast<Ring *>(ring)->pop(value) ? value : SELVEDGE_EMPTY;
}

SELVEDGE_OBJECT(ring, create, destroy,
    SELVEDGE_CALL("push", push, 1),
    SELVEDGE_CALL("push", push, 2),
    SELVEDGE_CALL("pop", pop));
