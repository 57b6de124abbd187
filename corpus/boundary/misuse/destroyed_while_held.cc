// The object with the lock dies while a thread holds the lock.
#include <memory>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <selvedge.h>

struct Guarded {
    Guarded() { pthread_mutex_init(&lock, nullptr); }
    ~Guarded() { pthread_mutex_destroy(&lock); }
    pthread_mutex_t lock;
};

alignas(Guarded) static unsigned char room[sizeof(Guarded)];

SELVEDGE_TEST(destroyed_while_held) {
    auto *guarded = new (room) Guarded;
    std::thread other([=] {
        pthread_mutex_lock(&guarded->lock);
        pthread_mutex_unlock(&guarded->lock);
    });
    guarded->~Guarded();
    other.join();
}
