// A list that was built before the first run is taken apart by the test.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <selvedge.h>

struct node { struct node *next; int value; };

static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

__attribute__((constructor)) static void build(void) {
    for (int i = 1; i <= 4; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = head;
        node->value = i;
        head = node;
    }
}

static void *take(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        struct node *first = head;
        if (first) {
            head = first->next;
            sum += first->value;
        }
        pthread_mutex_unlock(&lock);
        if (!first)
            return unused;
        free(first);
    }
}

SELVEDGE_TEST(list_of_constructor) {
    pthread_t other;
    pthread_create(&other, NULL, take, NULL);
    take(NULL);
    pthread_join(other, NULL);
    assert(sum == 1 + 2 + 3 + 4 && head == NULL);
}
