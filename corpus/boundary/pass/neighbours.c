// Members that are neighbours are locations of their own; so are bit-fields with a width of zero between them.
#include <assert.h>
#include <pthread.h>

#include <selvedge.h>

static struct {
    char left, right;
    unsigned first : 3;
    unsigned : 0;
    unsigned second : 3;
} members;

static void *set(void *unused) {
    members.left = 1;
    members.first = 2;
    return unused;
}

SELVEDGE_TEST(neighbours) {
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    members.right = 3;
    members.second = 4;
    pthread_join(other, NULL);
    assert(members.left == 1 && members.right == 3 && members.first == 2 && members.second == 4);
}
