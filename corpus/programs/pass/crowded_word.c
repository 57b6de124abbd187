/* More accesses to the same eight bytes than lie in one place of what is remembered of them, and no race. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>

static _Alignas(8) unsigned char word[8];

static void *own(void *byte) {
  *(unsigned char *)byte = 1;
  *(unsigned char *)byte += 1;
  return 0;
}

SELVEDGE_TEST(a_byte_each) {
  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    pthread_create(&threads[i], 0, own, &word[i]);
  for (int i = 0; i < 6; i++) {
    pthread_join(threads[i], 0);
    assert(word[i] == 2);
  }
}

static _Alignas(8) unsigned char shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reads(void *none) { return shared == 3 ? none : &shared; }

SELVEDGE_TEST(written_before_and_after_six_readers) {
  pthread_t threads[6];
  shared = 3;
  for (int i = 0; i < 6; i++)
    pthread_create(&threads[i], 0, reads, 0);
  for (int i = 0; i < 6; i++)
    pthread_join(threads[i], 0);
  shared = 4;
}

static void *adds(void *none) {
  pthread_mutex_lock(&lock);
  shared++;
  pthread_mutex_unlock(&lock);
  return none;
}

SELVEDGE_TEST(three_under_a_lock) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, adds, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  assert(shared == 3);
}
