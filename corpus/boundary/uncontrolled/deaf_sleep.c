// A library sleeps for an hour, with all signals blocked: the time limit holds, and the system call is named.
// apart: library
// settings: {"time_max": 1.0}
#ifdef APART
void sleep_long(void) {
  unsigned long all = ~0ul;
  long answer, hour[2] = {3600, 0};
  register long size __asm__("r10") = 8;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(14), "D"(0), "S"(&all), "d"(0), "r"(size) : "rcx", "r11", "memory");
  __asm__ volatile("syscall" : "=a"(answer) : "a"(35), "D"(hour), "S"(0) : "rcx", "r11", "memory");
}
#else
#include <selvedge.h>

void sleep_long(void);

SELVEDGE_TEST(sleeps_for_an_hour) { sleep_long(); }
#endif
