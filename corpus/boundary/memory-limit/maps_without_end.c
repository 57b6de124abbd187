// Memory is mapped for ever and used: the limit is named before the system runs out of it.
// settings: {"memory_max": 536870912}
#include <assert.h>
#include <selvedge.h>
#include <string.h>
#include <sys/mman.h>

SELVEDGE_TEST(maps) {
  for (;;) {
    char *more = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(more != MAP_FAILED);
    memset(more, 1, 16 << 20);
  }
}
