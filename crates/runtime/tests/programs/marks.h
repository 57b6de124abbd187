/* Included before a program of the corpus: each of its threads becomes one operation, called when the thread starts and returning when its
   function does. */
#include <pthread.h>
#include <selvedge.h>

#ifndef __cplusplus
struct marked {
    void *(*body)(void *);
    void *argument;
};
static struct marked marked_threads[16];
static int marked_count;

static void *marked_body(void *thread) {
    struct marked *marked = thread;
    selvedge_call("thread", marked - marked_threads);
    void *result = marked->body(marked->argument);
    selvedge_return(marked - marked_threads);
    return result;
}

static inline int marked_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    struct marked *marked = &marked_threads[marked_count++];
    marked->body = body;
    marked->argument = argument;
    return pthread_create(id, attributes, marked_body, marked);
}
#define pthread_create marked_create
#endif
