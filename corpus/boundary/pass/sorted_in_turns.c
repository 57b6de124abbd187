// Each thread sorts the table, one after the other; the comparison looks at the elements.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

static struct entry { int key; char name[12]; } table[] = {{3, "c"}, {1, "a"}, {2, "b"}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int rising(const void *a, const void *b) { return ((const struct entry *)a)->key - ((const struct entry *)b)->key; }
static int falling(const void *a, const void *b) { return rising(b, a); }

static void *sort(void *comparison) {
    int (*compare)(const void *, const void *) = comparison ? rising : falling;
    pthread_mutex_lock(&lock);
    qsort(table, 3, sizeof table[0], compare);
    struct entry two = {2, ""};
    struct entry *found = bsearch(&two, table, 3, sizeof table[0], compare);
    assert(found == &table[1] && found->name[0] == 'b');
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(sorted_in_turns) {
    pthread_t one, other;
    assert(table[0].key == 3);
    pthread_create(&one, NULL, sort, &lock);
    pthread_create(&other, NULL, sort, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(table[0].key + table[2].key == 4 && table[1].name[0] == 'b');
}
