// All threads get the address of the loop's counter.
#include <atomic>
#include <cassert>
#include <pthread.h>

#include <selvedge.h>

static std::atomic<int> index_of_worker, seen[2];

static void *work(void *argument) {
    seen[*static_cast<std::atomic<int> *>(argument)]++;
    return nullptr;
}

SELVEDGE_TEST(pointer_to_local) {
    pthread_t workers[2];
    for (index_of_worker = 0; index_of_worker < 2; index_of_worker++) {
        pthread_create(&workers[index_of_worker], nullptr, work, &index_of_worker);
        if (index_of_worker == 1)
            break;
    }
    for (pthread_t worker : workers)
        pthread_join(worker, nullptr);
    assert(seen[0] == 1 && seen[1] == 1);
}
