// main writes once more, and returns; the thread that it leaves over reads what it wrote.
#include <pthread.h>
#include <stdio.h>

static int status;

static void *report(void *unused) {
    printf("%d\n", status);
    return unused;
}

int main(void) {
    pthread_t reporter;
    pthread_create(&reporter, NULL, report, NULL);
    pthread_detach(reporter);
    status = 1;
    return 0;
}
