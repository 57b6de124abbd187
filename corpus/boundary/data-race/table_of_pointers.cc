// The thread that the base class starts calls a virtual function before the constructor is done.
#include <memory>
#include <thread>

#include <selvedge.h>

struct Active {
    Active() : thread([this] { run(); }) {}
    virtual ~Active() {}
    virtual void run() {}
    std::thread thread;
};

struct Server : Active {
    void run() override { served++; }
    int served = 0;
};

SELVEDGE_TEST(table_of_pointers) {
    auto server = std::make_unique<Server>();
    server->thread.join();
}
