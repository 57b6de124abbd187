// A computation that does not end touches nothing that others see: it is named after the time limit.
// settings: {"time_max": 1.0}
#include <pthread.h>
#include <selvedge.h>

static unsigned long collatz_steps(unsigned long number) {
  unsigned long steps = 0;
  while (number != 0) {
    number = number % 2 ? 3 * number + 1 : number / 2;
    steps++;
  }
  return steps;
}

static void *worker(void *start) { return (void *)collatz_steps((unsigned long)start); }

SELVEDGE_TEST(collatz) {
  pthread_t thread;
  void *steps;
  pthread_create(&thread, NULL, worker, (void *)27);
  pthread_join(thread, &steps);
}
