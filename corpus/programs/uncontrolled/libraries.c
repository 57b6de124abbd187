/* A library that is loaded in the test, and one that goes. */
#include <assert.h>
#include <dlfcn.h>
#include <selvedge.h>
#include <stddef.h>

SELVEDGE_TEST(comes) { assert(dlopen("libutil.so.1", RTLD_NOW) || dlopen("libnsl.so.1", RTLD_NOW)); }

SELVEDGE_TEST(goes) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    assert(libc);
    dlclose(libc);
}
