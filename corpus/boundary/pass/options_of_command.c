// getopt remembers in globals of the library how far it came.
#include <assert.h>
#include <getopt.h>
#include <pthread.h>
#include <stddef.h>

#include <selvedge.h>

static int threads = 1;
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    ready++;
    pthread_mutex_unlock(&lock);
    return unused;
}

SELVEDGE_TEST(options_of_command) {
    char program[] = "server", flag[] = "-t", value[] = "2", rest[] = "file";
    char *arguments[] = {program, flag, value, rest, NULL};
    int option, seen = 0;
    while ((option = getopt(4, arguments, "t:")) != -1) {
        assert(option == 't');
        threads = optarg[0] - '0';
        seen++;
    }
    assert(seen == 1 && threads == 2 && optind == 3);
    pthread_t workers[2];
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    assert(ready == 2);
}
