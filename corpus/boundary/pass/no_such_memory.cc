// More memory than any machine has is refused here as everywhere.
#include <assert.h>
#include <selvedge.h>
#include <stdint.h>
#include <stdlib.h>

#include <new>
#include <vector>

SELVEDGE_TEST(refused) {
  volatile size_t much = SIZE_MAX / 4;
  assert(malloc(much) == nullptr);
  assert(calloc(much, 8) == nullptr);
  bool thrown = false;
  try {
    std::vector<char> all(much);
  } catch (const std::bad_alloc &) {
    thrown = true;
  }
  assert(thrown);
}
