/* A race that the program calls benign is one by the rules of C. */
#include <pthread.h>

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory, long size, const char *why);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static int hits;

static void *count(void *none) {
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    hits++;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    return none;
}

int main(void) {
    pthread_t one;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &hits, sizeof hits, "a statistic");
    pthread_create(&one, NULL, count, NULL);
    count(NULL);
    pthread_join(one, NULL);
    return 0;
}
