/* A library that tells race detectors what its relaxed accesses order, without a header. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
void AnnotateHappensAfter(const char *file, int line, const volatile void *address);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateThreadName(const char *file, int line, const char *name);
void AnnotateNewMemory(const char *file, int line, const volatile void *memory, long size);
int RunningOnValgrind(void);
void __sanitizer_print_stack_trace(void);

static atomic_int full;
static int slot;

static void *fill(void *none) {
    AnnotateThreadName(__FILE__, __LINE__, "filler");
    AnnotateNewMemory(__FILE__, __LINE__, &slot, sizeof slot);
    slot = 7;
    AnnotateHappensBefore(__FILE__, __LINE__, &full);
    atomic_store_explicit(&full, 1, memory_order_relaxed);
    return none;
}

int main(void) {
    pthread_t filler;
    AnnotateRWLockCreate(__FILE__, __LINE__, &full);
    pthread_create(&filler, NULL, fill, NULL);
    if (atomic_load_explicit(&full, memory_order_relaxed)) {
        AnnotateHappensAfter(__FILE__, __LINE__, &full);
        assert(slot == 7);
    }
    if (RunningOnValgrind())
        __sanitizer_print_stack_trace();
    pthread_join(filler, NULL);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &full);
    return 0;
}
