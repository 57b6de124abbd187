// The time zone that a test sets is forgotten before the next run.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <selvedge.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hours[2];

static void *convert(void *hour) {
    time_t noon = 12 * 60 * 60;
    struct tm parts;
    pthread_mutex_lock(&lock);
    localtime_r(&noon, &parts);
    *(int *)hour = parts.tm_hour;
    pthread_mutex_unlock(&lock);
    return NULL;
}

SELVEDGE_TEST(local_time) {
    pthread_t other;
    assert(getenv("TZ") == NULL || getenv("TZ")[0] != 'X');
    setenv("TZ", "XST5", 1);
    tzset();
    pthread_create(&other, NULL, convert, &hours[0]);
    convert(&hours[1]);
    pthread_join(other, NULL);
    assert(hours[0] == 7 && hours[1] == 7);
    assert(timezone == 5 * 60 * 60);
}
