// A library takes memory for ever, by system calls of its own after one that nobody follows.
// apart: library
// settings: {"memory_max": 536870912}
#ifdef APART
static long call(long number, long a, long b, long c, long d, long e, long f) {
  long answer;
  register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return answer;
}

void take_all(void) {
  call(135, 0xffffffff, 0, 0, 0, 0, 0);
  for (;;) {
    char *more = (char *)call(9, 0, 16 << 20, 3, 0x22, -1, 0);
    for (long at = 0; at < 16 << 20; at += 4096) more[at] = 1;
  }
}
#else
#include <selvedge.h>

void take_all(void);

SELVEDGE_TEST(takes_all) { take_all(); }
#endif
