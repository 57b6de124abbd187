// The initialisation of a local static waits for a thread that needs the same static.
#include <selvedge.h>
#include <thread>

struct Service {
    Service();
};

static Service &service() {
    static Service only;
    return only;
}

Service::Service() {
    std::thread worker([] { service(); });
    worker.join();
}

SELVEDGE_TEST(local_static) { service(); }
