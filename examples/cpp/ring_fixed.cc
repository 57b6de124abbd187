// The ring with a turn for each slot: selvedge test examples/cpp/ring_fixed.cc --auto 2
#include <atomic>
#include <selvedge.h>

class Ring {
    static constexpr unsigned size = 4;
    struct Slot {
        std::atomic<unsigned> turn;
        std::atomic<int> value;
    };
    Slot slots[size];
    std::atomic<unsigned> head{0}, tail{0};

  public:
    Ring() {
        for (unsigned i = 0; i < size; i++)
            slots[i].turn.store(i);
    }

    bool push(int value) {
        unsigned at = tail.load();
        for (;;) {
            Slot &slot = slots[at % size];
            unsigned turn = slot.turn.load();
            if (turn == at) {
                if (tail.compare_exchange_weak(at, at + 1)) {
                    slot.value.store(value);
                    slot.turn.store(at + 1);
                    return true;
                }
            } else {
                if (turn + size == at + 1 && head.load() + size == at)
                    return false; // full, and not just slow to be emptied
                at = tail.load();
            }
        }
    }

    bool pop(int &value) {
        unsigned at = head.load();
        for (;;) {
            Slot &slot = slots[at % size];
            unsigned turn = slot.turn.load();
            if (turn == at + 1) {
                if (head.compare_exchange_weak(at, at + 1)) {
                    value = slot.value.load();
                    slot.turn.store(at + size);
                    return true;
                }
            } else {
                if (turn == at && tail.load() == at)
                    return false; // empty, and not just slow to be filled
                at = head.load();
            }
        }
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
