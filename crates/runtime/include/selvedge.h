/* Tests that run under every schedule. See docs for what is controlled. */
#ifndef SELVEDGE_H
#define SELVEDGE_H

#ifdef __cplusplus
extern "C" {
#endif

struct selvedge_test {
    const char *name;
    void (*body)(void);
};

/* Called for each test before main. */
void selvedge_register(const struct selvedge_test *test);

/* An operation of the object under test is called and returns. The order of returns and calls is then kept by every
   strategy, and the distinct histories are counted. */
void selvedge_call(const char *operation, long argument);
void selvedge_return(long result);

#ifdef __cplusplus
}
#endif

/* SELVEDGE_TEST(name) { ... } defines a test. Its body creates threads as it likes and uses plain assert. */
#define SELVEDGE_TEST(test_name)                                                                                       \
    static void selvedge_body_##test_name(void);                                                                       \
    static const struct selvedge_test selvedge_test_##test_name = {#test_name, selvedge_body_##test_name};             \
    __attribute__((constructor)) static void selvedge_register_##test_name(void) {                                     \
        selvedge_register(&selvedge_test_##test_name);                                                                 \
    }                                                                                                                  \
    static void selvedge_body_##test_name(void)

#endif
