// A loop in what others compiled, with all signals blocked by a system call of its own: the time limit holds.
// apart: object
// settings: {"time_max": 1.0}
#ifdef APART
void loop_for_ever(void) {
  unsigned long all = ~0ul;
  long answer;
  register long size __asm__("r10") = 8;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(14), "D"(0), "S"(&all), "d"(0), "r"(size) : "rcx", "r11", "memory");
  for (;;) __asm__ volatile("" : : : "memory");
}
#else
#include <pthread.h>
#include <selvedge.h>

void loop_for_ever(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  loop_for_ever();
  pthread_mutex_unlock(&lock);
  return unused;
}

SELVEDGE_TEST(never_heard_of_again) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
}
#endif
