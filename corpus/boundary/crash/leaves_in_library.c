// A library ends the process at once, with a code that says that all is well.
// apart: library
#ifdef APART
void done(int code) {
  for (;;) __asm__ volatile("syscall" : : "a"(231), "D"(code) : "rcx", "r11", "memory");
}
#else
#include <pthread.h>
#include <selvedge.h>

void done(int code);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  finished++;
  pthread_mutex_unlock(&lock);
  return unused;
}

SELVEDGE_TEST(leaves_early) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  pthread_join(threads[0], NULL);
  pthread_mutex_lock(&lock);
  int all = finished == 2;
  pthread_mutex_unlock(&lock);
  if (all) done(0);
  pthread_join(threads[1], NULL);
}
#endif
