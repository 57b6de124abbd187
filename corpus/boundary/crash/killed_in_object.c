// What others compiled kills the process under one order of two threads. That is the test's error, with the schedule that leads there.
// apart: object
#ifdef APART
/* kill(getpid(), SIGKILL), without libc. */
void give_up(void) {
  long process, answer;
  __asm__ volatile("syscall" : "=a"(process) : "a"(39) : "rcx", "r11", "memory");
  __asm__ volatile("syscall" : "=a"(answer) : "a"(62), "D"(process), "S"(9) : "rcx", "r11", "memory");
}
#else
#include <pthread.h>
#include <selvedge.h>

void give_up(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  int was_ready = ready;
  pthread_mutex_unlock(&lock);
  if (!was_ready) give_up();
  return unused;
}

SELVEDGE_TEST(started_too_early) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}
#endif
