/* Races among more accesses to the same eight bytes than lie in one place of what is remembered of them. */
#include <pthread.h>
#include <selvedge.h>

static _Alignas(8) struct {
  unsigned char racy, a, b, c, d, e;
} word;

static void *writes_all(void *none) {
  word.racy = 1;
  word.a = 1;
  word.b = 1;
  word.c = 1;
  word.d = 1;
  word.e = 1;
  return none;
}

static void *reads_the_first(void *none) { return word.racy ? none : 0; }

SELVEDGE_TEST(the_first_of_six) {
  pthread_t one, other;
  pthread_create(&one, 0, writes_all, 0);
  pthread_create(&other, 0, reads_the_first, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}

static _Alignas(8) unsigned char first;

static void *reads(void *none) { return first ? none : 0; }

static void *writes(void *none) {
  first = 1;
  return none;
}

SELVEDGE_TEST(six_readers_and_a_writer) {
  pthread_t readers[6], writer;
  for (int i = 0; i < 6; i++)
    pthread_create(&readers[i], 0, reads, 0);
  pthread_create(&writer, 0, writes, 0);
  for (int i = 0; i < 6; i++)
    pthread_join(readers[i], 0);
  pthread_join(writer, 0);
}
