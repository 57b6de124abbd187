// The process is killed before any thread has made a step.
// apart: object
#ifdef APART
void give_up(void) {
  long process, answer;
  __asm__ volatile("syscall" : "=a"(process) : "a"(39) : "rcx", "r11", "memory");
  __asm__ volatile("syscall" : "=a"(answer) : "a"(62), "D"(process), "S"(15) : "rcx", "r11", "memory");
}
#else
#include <selvedge.h>

void give_up(void);

SELVEDGE_TEST(gives_up_at_once) { give_up(); }
#endif
