/* Blocks that are filled behind their end, by sizes that a compiler expands in different ways. */
#include <selvedge.h>
#include <stdlib.h>
#include <string.h>

#define FILLED(size)                   \
    SELVEDGE_TEST(filled_##size) {     \
        char *block = malloc(16);      \
        memset(block, 1, size);        \
        free(block);                   \
    }

FILLED(17)
FILLED(24)
FILLED(32)
FILLED(64)
FILLED(100)
FILLED(256)
FILLED(1000)
FILLED(4096)
FILLED(100000)

SELVEDGE_TEST(copied) {
    static const char large[64] = "large";
    char *block = malloc(16);
    memcpy(block, large, sizeof large);
    free(block);
}

SELVEDGE_TEST(text) {
    char *block = malloc(8);
    strcpy(block, "much too long a text");
    free(block);
}
