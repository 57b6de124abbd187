// A thread works on variables of its creator's stack, of a size that is known late.
#include <alloca.h>
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include <selvedge.h>

struct work { int *numbers; int count; };

static int size = 5;

static void *fill(void *argument) {
    struct work *work = argument;
    for (int i = 0; i < work->count; i++)
        work->numbers[i] = i;
    return work;
}

SELVEDGE_TEST(variable_of_stack) {
    int numbers[size];
    char *text = alloca((size_t)size);
    memset(numbers, 0, sizeof numbers);
    memset(text, 'x', (size_t)size);
    struct work work = {numbers, size};
    pthread_t other;
    pthread_create(&other, NULL, fill, &work);
    text[0] = 'y';
    void *result;
    pthread_join(other, &result);
    assert(result == &work && numbers[4] == 4 && text[4] == 'x');
}
