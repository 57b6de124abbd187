/* Blocks that are cleared, copied, passed and returned without the lock that others hold. */
#include <pthread.h>
#include <selvedge.h>
#include <stddef.h>
#include <string.h>

struct record { int id, count; long values[6]; };
struct pair { long first, second; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record record, other;
static struct pair pair;
static char text[64];

static void *locked(void *unused) {
    pthread_mutex_lock(&lock);
    record.values[3]++;
    pair.second++;
    text[5] = 'x';
    pthread_mutex_unlock(&lock);
    return unused;
}

static void beside(void (*work)(void)) {
    pthread_t thread;
    pthread_create(&thread, NULL, locked, NULL);
    work();
    pthread_join(thread, NULL);
}

static void clear(void) { memset(&record, 0, sizeof record); }
static void clear_builtin(void) { __builtin_memset(&record, 0, sizeof record); }
static void copy(void) { memcpy(&record, &other, sizeof record); }
static void copy_from(void) { memcpy(&other, &record, sizeof record); }
static void move(void) { memmove(&record, &other, sizeof record); }
static void assign(void) { record = other; }
static void initialise(void) { record = (struct record){0}; }
static void name(void) { strcpy(text, "a longer text"); }
static void chars(void) { memcpy(text, "abcdefgh", 8); }

__attribute__((noinline)) static struct pair make(long n) { return (struct pair){n, n}; }
__attribute__((noinline)) static struct record make_record(int n) { return (struct record){n, n, {n}}; }
__attribute__((noinline)) static long take(struct pair p) { return p.first + p.second; }
__attribute__((noinline)) static long take_record(struct record r) { return r.id + r.values[3]; }
long kept;
static void returned(void) { pair = make(3); }
static void returned_record(void) { record = make_record(3); }
static void passed(void) { kept = take(pair); }
static void passed_record(void) { kept = take_record(record); }

SELVEDGE_TEST(memset_) { beside(clear); }
SELVEDGE_TEST(builtin_memset) { beside(clear_builtin); }
SELVEDGE_TEST(memcpy_to) { beside(copy); }
SELVEDGE_TEST(memcpy_from) { beside(copy_from); }
SELVEDGE_TEST(memmove_) { beside(move); }
SELVEDGE_TEST(assignment) { beside(assign); }
SELVEDGE_TEST(initialisation) { beside(initialise); }
SELVEDGE_TEST(strcpy_) { beside(name); }
SELVEDGE_TEST(memcpy_8) { beside(chars); }
SELVEDGE_TEST(returned_) { beside(returned); }
SELVEDGE_TEST(returned_record_) { beside(returned_record); }
SELVEDGE_TEST(passed_) { beside(passed); }
SELVEDGE_TEST(passed_record_) { beside(passed_record); }
