// Copies of a global shared_ptr in two threads: each counts, nobody else writes.
#include <cassert>
#include <memory>
#include <string>
#include <thread>

#include <selvedge.h>

struct Configuration {
    std::string host = "a name of a host that needs memory of its own";
    int port = 80;
};

static std::shared_ptr<Configuration> current = std::make_shared<Configuration>();
static std::weak_ptr<Configuration> watched = current;

SELVEDGE_TEST(shared_configuration) {
    auto serve = [](std::shared_ptr<const Configuration> own) { assert(own->port == 80 && own->host.size() > 30); };
    std::thread one(serve, current), other(serve, current);
    one.join();
    other.join();
    assert(current.use_count() == 1 && !watched.expired());
    current.reset();
    assert(watched.expired());
}
