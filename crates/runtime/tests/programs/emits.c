/* Makes a compiler emit as many calls of the thread-sanitizer pass as it has. Compiled and linked, never run. */
#include <selvedge.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 uint128_t;
typedef long long pair __attribute__((vector_size(16)));
typedef long long four __attribute__((vector_size(32)));

#define WIDTH(type)                                                                                                    \
    _Atomic(type) atomic_##type;                                                                                       \
    volatile type volatile_##type;                                                                                     \
    type plain_##type;                                                                                                 \
    struct __attribute__((packed)) {                                                                                   \
        char shift;                                                                                                    \
        type value;                                                                                                    \
        volatile type other;                                                                                           \
    } packed_##type;                                                                                                   \
    type use_##type(type value, type *out) {                                                                           \
        type expected = value;                                                                                         \
        atomic_store(&atomic_##type, value);                                                                           \
        type sum = atomic_load(&atomic_##type);                                                                        \
        sum += atomic_exchange(&atomic_##type, sum) + atomic_fetch_add(&atomic_##type, sum);                           \
        sum += atomic_fetch_sub(&atomic_##type, sum) + atomic_fetch_and(&atomic_##type, sum);                          \
        sum += atomic_fetch_or(&atomic_##type, sum) + atomic_fetch_xor(&atomic_##type, sum);                           \
        sum += NAND(&atomic_##type, sum);                                                                              \
        sum += atomic_compare_exchange_strong(&atomic_##type, &expected, sum);                                         \
        sum += atomic_compare_exchange_weak(&atomic_##type, &expected, sum);                                           \
        volatile_##type = sum;                                                                                         \
        sum += volatile_##type;                                                                                        \
        plain_##type += sum;                                                                                           \
        *out = plain_##type;                                                                                           \
        packed_##type.value = sum;                                                                                     \
        packed_##type.other = packed_##type.value + packed_##type.other;                                               \
        return sum;                                                                                                    \
    }

#ifdef __clang__
#define NAND(object, value) __c11_atomic_fetch_add(object, value, __ATOMIC_SEQ_CST)
#else
#define NAND(object, value) __atomic_fetch_nand(object, value, __ATOMIC_SEQ_CST)
#endif

WIDTH(uint8_t)
WIDTH(uint16_t)
WIDTH(uint32_t)
WIDTH(uint64_t)
WIDTH(uint128_t)

struct large {
    char bytes[200];
};

void copies(struct large *to, struct large *from, pair *one, pair *other, four *wide, size_t size) {
    *to = *from;
    memset(from, 0, sizeof *from);
    memcpy(to, from, size);
    memmove(to->bytes + 1, to->bytes, size);
    *one = *other;
    *wide = *wide + *wide;
}

void fences(void) {
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_seq_cst);
}

SELVEDGE_TEST(emits) { fences(); }
