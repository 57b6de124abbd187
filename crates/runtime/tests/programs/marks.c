/* Loaded before the runtime: each thread becomes one operation, called when the thread starts and returning when its function does. For
   programs that marks.h cannot be included in. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* Of the runtime, which is loaded after this. */
void selvedge_call(const char *operation, long argument);
void selvedge_return(long result);

struct marked {
    void *(*body)(void *);
    void *argument;
};

static void *marked_body(void *thread) {
    struct marked marked = *(struct marked *)thread;
    free(thread);
    selvedge_call("thread", 0);
    void *result = marked.body(marked.argument);
    selvedge_return(0);
    return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    struct marked *marked = malloc(sizeof *marked);
    marked->body = body;
    marked->argument = argument;
    return create(id, attributes, marked_body, marked);
}
