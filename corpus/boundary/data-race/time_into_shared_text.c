// Two threads write the time into one buffer.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <selvedge.h>

static char text[32];

static void *show(void *unused) {
    time_t now = 0;
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return unused;
}

SELVEDGE_TEST(time_into_shared_text) {
    pthread_t other;
    pthread_create(&other, NULL, show, NULL);
    show(NULL);
    pthread_join(other, NULL);
}
