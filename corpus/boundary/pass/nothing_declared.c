// flags: -Wno-implicit-function-declaration
/* As much older code, it declares nothing of what it takes from libc: compilers know what these functions answer. */
#include <assert.h>
#include <pthread.h>
#include <selvedge.h>

struct word {
    struct word *next;
    char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct word *words;

static void *add(void *pair) {
    struct word *word = malloc(sizeof *word);
    word->text = strchr(pair, '=') + 1;
    pthread_mutex_lock(&lock);
    word->next = words;
    words = word;
    pthread_mutex_unlock(&lock);
    return pair;
}

SELVEDGE_TEST(nothing_declared) {
    char one[] = "one=1", two[] = "two=22";
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, one);
    pthread_create(&threads[1], NULL, add, two);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int length = 0;
    while (words) {
        struct word *word = words;
        length += strlen(word->text);
        words = word->next;
        free(word);
    }
    assert(length == 3);
}
