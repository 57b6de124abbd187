// Virtual tables, which have calls of their own.
#include <selvedge.h>

struct Base {
    virtual ~Base() {}
    virtual int number() { return 1; }
};

struct Derived : Base {
    ~Derived() override {}
    int number() override { return 2; }
};

int ask(Base *base) { return base->number(); }
Base *make() { return new Derived; }
void drop(Base *base) { delete base; }

SELVEDGE_TEST(emits_virtual) {}
