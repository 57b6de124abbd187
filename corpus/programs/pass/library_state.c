// What libc remembers for the program is as it was at the beginning in every run.
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <iconv.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <selvedge.h>

static int steps;

static void *step(void *unused) {
    (void)unused;
    __atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

// Two runs at least.
static void runs(void) {
    pthread_t other;
    pthread_create(&other, NULL, step, NULL);
    step(NULL);
    pthread_join(other, NULL);
}

static void *message(void *unused) {
    assert(strstr(strerror(12345), "12345"));
    return step(unused);
}

SELVEDGE_TEST(messages) {
    pthread_t other;
    pthread_create(&other, NULL, message, NULL);
    assert(strstr(strerror(54321), "54321"));
    assert(strsignal(4000));
    message(NULL);
    pthread_join(other, NULL);
}

SELVEDGE_TEST(calendar) {
    time_t day = 24 * 60 * 60;
    assert(gmtime(&day)->tm_mday == 2);
    tzset();
    assert(timezone == 0);
    setenv("TZ", "EST5EDT", 1);
    assert(localtime(&day)->tm_mday == 1);
    assert(timezone == 5 * 60 * 60);
    runs();
}

SELVEDGE_TEST(environment) {
    static char other[] = "SELVEDGE_OTHER=1";
    assert(!getenv("SELVEDGE_NONE") && !getenv("SELVEDGE_OTHER"));
    char *home = getenv("HOME");
    assert(home && home[0] != '#');
    home[0] = '#';
    setenv("SELVEDGE_NONE", "1", 1);
    putenv(other);
    unsetenv("HOME");
    assert(!getenv("HOME") && getenv("SELVEDGE_NONE") && getenv("SELVEDGE_OTHER"));
    runs();
}

SELVEDGE_TEST(places) {
    assert(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
    assert(setlocale(LC_ALL, "C.UTF-8"));
    assert(MB_CUR_MAX > 1);
    locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", 0);
    assert(uselocale(0) == LC_GLOBAL_LOCALE);
    uselocale(own);
    runs();
}

SELVEDGE_TEST(options) {
    char program[] = "program", x[] = "-x";
    char *words[] = {program, x, NULL};
    assert(optind == 1);
    assert(getopt(2, words, "x") == 'x' && getopt(2, words, "x") == -1);
    assert(optind == 2);
    runs();
}

SELVEDGE_TEST(texts) {
    char words[] = "a b c", *text;
    assert(strcmp(strtok(words, " "), "a") == 0);
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "%d %s", 3, "x");
    fclose(stream);
    assert(size == 3);
    free(text);
    iconv_t to = iconv_open("UTF-16LE", "ISO-8859-15");
    assert(to != (iconv_t)-1);
    char letters[] = "ab", wide[8], *in = letters, *out = wide;
    size_t left = 2, room = sizeof wide;
    assert(iconv(to, &in, &left, &out, &room) == 0 && room == 4);
    runs();
}

static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

SELVEDGE_TEST(tables) {
    static int numbers[5000];
    for (int i = 0; i < 5000; i++)
        numbers[i] = i * 7919 % 5000;
    qsort(numbers, 5000, sizeof numbers[0], less);
    assert(numbers[0] == 0 && numbers[4999] == 4999);
    ENTRY entry = {.key = "key", .data = numbers};
    assert(hcreate(8));
    assert(!hsearch(entry, FIND));
    assert(hsearch(entry, ENTER));
    assert(getpwuid(0));
    assert(!dlsym(NULL, "selvedge_no_such_thing") && dlerror());
    assert(errno != 4242);
    errno = 4242;
    runs();
}

static void nothing(void) {}

SELVEDGE_TEST(files) {
    static char *line;
    static size_t room;
    FILE *file = fopen("/proc/self/status", "r");
    assert(file && getline(&line, &room, file) > 0);
    assert(strncmp(line, "Name:", 5) == 0);
    fclose(file);
    // One that nobody closes: the next run finds room for it, at the same number.
    assert(open("/proc/self/status", O_RDONLY) < 20);
    for (int i = 0; i < 40; i++)
        atexit(nothing);
    printf("half a line");
    runs();
}

static char *buffer;
static FILE *opened;

__attribute__((constructor)) static void open_before(void) {
    buffer = calloc(100000, 1);
    opened = fopen("/proc/self/status", "r");
}

// The kernel writes to memory that is put back.
SELVEDGE_TEST(kernel) {
    int file = open("/proc/self/maps", O_RDONLY);
    assert(buffer[5000] == 0);
    assert(read(file, buffer + 5000, 500) == 500);
    assert(buffer[5000] != 0);
    close(file);
    struct stat *about = (struct stat *)(buffer + 40000);
    assert(about->st_mode == 0 && stat("/", about) == 0 && S_ISDIR(about->st_mode));
    assert(getcwd(buffer + 60000, 4096));
    struct utsname *system = (struct utsname *)(buffer + 80000);
    assert(!system->sysname[0] && uname(system) == 0);
    struct timespec *resolution = (struct timespec *)(buffer + 90000);
    assert(clock_getres(CLOCK_REALTIME, resolution) == 0);
    runs();
}

SELVEDGE_TEST(read_on) {
    char line[100];
    assert(fgets(line, sizeof line, opened));
    assert(strncmp(line, "Name:", 5) == 0);
    runs();
}

SELVEDGE_TEST(signals) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    assert(buffer[70000] == 0);
    buffer[70000] = 1;
    setenv("SELVEDGE_NONE", "1", 1);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    runs();
}
