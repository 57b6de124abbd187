/* Tests that run under every schedule. See docs for what is controlled. */
#ifndef SELVEDGE_H
#define SELVEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Objects. See docs/objects.md. An operation takes the object and its arguments, and returns a value. */
typedef int64_t selvedge_value;

/* What an operation returns when it returns nothing, when there was nothing to return, and when it did not work. */
#define SELVEDGE_VOID (INT64_MIN)
#define SELVEDGE_EMPTY (INT64_MIN + 1)
#define SELVEDGE_FAIL (INT64_MIN + 2)

typedef selvedge_value (*selvedge_function)(void *object, const selvedge_value *arguments);

struct selvedge_invocation {
    const char *name;
    selvedge_function function;
    int arity;
    int enumerate;
    selvedge_value arguments[4];
};

struct selvedge_object {
    const char *name;
    void *(*create)(void);
    void (*destroy)(void *);
    const struct selvedge_invocation *calls;
    size_t count;
    selvedge_value (*invoke)(selvedge_function, void *, const selvedge_value *);
    void *(*construct)(void *(*)(void));
    const char *reference_of;
};

/* Called for each object before main, and for each option of one. */
void selvedge_register_object(const struct selvedge_object *object);
void selvedge_register_option(const char *object, const char *option);

/* A result that is text: return selvedge_text("..."). */
selvedge_value selvedge_text(const char *text);

/* For tests and for specifications: one of 0 .. options-1, all of which are tried. */
unsigned selvedge_choose(unsigned options);

/* For tests: a run in which the condition does not hold here is not looked at any further. */
void selvedge_assume(bool condition);

/* For specifications: an operation that waits for ever. */
void selvedge_block(void);

/* Says that the object could not be constructed. Does not come back. */
void selvedge_not_constructed(const char *why, size_t length);

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

/* An exception is a result like any other. */
#ifdef __cplusplus
#include <exception>
#include <string>
static inline selvedge_value selvedge_invoke(selvedge_function function, void *object, const selvedge_value *arguments) {
    try {
        return function(object, arguments);
    } catch (const std::exception &error) {
        return selvedge_text((std::string("panicked: ") + error.what()).c_str());
    } catch (...) {
        return selvedge_text("panicked");
    }
}
static inline void *selvedge_construct(void *(*create)(void)) {
    std::string why = "an exception";
    try {
        return create();
    } catch (const std::exception &error) {
        why = error.what();
    } catch (...) {
    }
    selvedge_not_constructed(why.c_str(), why.size());
    return nullptr;
}
#else
static inline selvedge_value selvedge_invoke(selvedge_function function, void *object, const selvedge_value *arguments) {
    return function(object, arguments);
}
static inline void *selvedge_construct(void *(*create)(void)) { return create(); }
#endif

/* SELVEDGE_CALL("enq", enq, 1): a call of an operation with up to 4 arguments. */
#define SELVEDGE_CALL(...)                                                                                             \
    SELVEDGE_SIXTH_(__VA_ARGS__, SELVEDGE_CALL_4_, SELVEDGE_CALL_3_, SELVEDGE_CALL_2_, SELVEDGE_CALL_1_,               \
                    SELVEDGE_CALL_0_, 0)                                                                               \
    (__VA_ARGS__)
#define SELVEDGE_SIXTH_(name, function, a, b, c, d, chosen, ...) chosen
#define SELVEDGE_CALL_0_(name, function) {name, function, 0, 0, {0, 0, 0, 0}}
#define SELVEDGE_CALL_1_(name, function, a) {name, function, 1, 0, {a, 0, 0, 0}}
#define SELVEDGE_CALL_2_(name, function, a, b) {name, function, 2, 0, {a, b, 0, 0}}
#define SELVEDGE_CALL_3_(name, function, a, b, c) {name, function, 3, 0, {a, b, c, 0}}
#define SELVEDGE_CALL_4_(name, function, a, b, c, d) {name, function, 4, 0, {a, b, c, d}}

/* SELVEDGE_METHOD("enq", enq, 1): calls of an operation with so many arguments, whose values are made up. */
#define SELVEDGE_METHOD(name, function, arity) {name, function, arity, 1, {0, 0, 0, 0}}

/* SELVEDGE_OBJECT(name, create, destroy, calls...): an object to be tested. */
#define SELVEDGE_OBJECT(object_name, create, destroy, ...)                                                             \
    SELVEDGE_OBJECT_(object_name, #object_name, NULL, create, destroy, __VA_ARGS__)

/* SELVEDGE_REFERENCE(name, create, destroy, calls...): says what the object of that name does serially. Same calls. */
#define SELVEDGE_REFERENCE(object_name, create, destroy, ...)                                                          \
    SELVEDGE_OBJECT_(reference_of_##object_name, "reference of " #object_name, #object_name, create, destroy, __VA_ARGS__)

#define SELVEDGE_OBJECT_(id, shown, reference_of, create, destroy, ...)                                                \
    static const struct selvedge_invocation selvedge_calls_##id[] = {__VA_ARGS__};                                     \
    static const struct selvedge_object selvedge_object_##id = {                                                       \
        shown,           create,             destroy,     selvedge_calls_##id, sizeof selvedge_calls_##id / sizeof *selvedge_calls_##id, \
        selvedge_invoke, selvedge_construct, reference_of};                                                            \
    __attribute__((constructor)) static void selvedge_register_##id(void) {                                            \
        selvedge_register_object(&selvedge_object_##id);                                                               \
    }                                                                                                                  \
    struct selvedge_object

/* SELVEDGE_OPTION(name, "test enq(1), deq() | deq()"): an option of an object; docs/objects.md lists them. */
#define SELVEDGE_OPTION(object_name, option) SELVEDGE_OPTION_(object_name, option, __COUNTER__)
#define SELVEDGE_OPTION_(object_name, option, number) SELVEDGE_OPTION__(object_name, option, number)
#define SELVEDGE_OPTION__(object_name, option, number)                                                                 \
    __attribute__((constructor)) static void selvedge_option_##object_name##_##number(void) {                          \
        selvedge_register_option(#object_name, option);                                                                \
    }                                                                                                                  \
    struct selvedge_object

#endif
