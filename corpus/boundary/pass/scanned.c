// Two threads scan texts of their own into places of their own.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <selvedge.h>

struct order { char name[16]; double price; short count; unsigned char kind; int length; char code[3]; };

static struct order orders[2];
static const char *const lines[2] = {"tea 2.5 3 7 ab1", "coffee 4 12 255 xyz"};

static void *parse(void *number) {
    struct order *order = &orders[number ? 1 : 0];
    const char *line = lines[number ? 1 : 0];
    int items = sscanf(line, "%15s %lf %hd %hhu %n%3c %*s", order->name, &order->price, &order->count, &order->kind,
                       &order->length, order->code);
    assert(items == 5);
    return NULL;
}

SELVEDGE_TEST(scanned) {
    pthread_t other;
    pthread_create(&other, NULL, parse, orders);
    parse(NULL);
    pthread_join(other, NULL);
    assert(strcmp(orders[0].name, "tea") == 0 && orders[0].count == 3 && orders[0].price == 2.5);
    assert(orders[1].kind == 255 && memcmp(orders[1].code, "xyz", 3) == 0 && orders[1].length == 16);
}
