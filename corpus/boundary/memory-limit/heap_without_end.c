// A list that grows for ever fills the heap of its thread: nobody takes that for an allocation that fails.
#include <assert.h>
#include <selvedge.h>
#include <stdlib.h>

struct node {
  struct node *next;
  char payload[1 << 20];
};

SELVEDGE_TEST(grows) {
  struct node *head = NULL;
  for (;;) {
    struct node *node = malloc(sizeof *node);
    assert(node != NULL);
    node->next = head;
    head = node;
  }
}
