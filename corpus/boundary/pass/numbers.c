// Numbers are the lowest that are free, in every run; copies share what they stand for, and not its flags of the number.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <selvedge.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

SELVEDGE_TEST(numbers) {
    static int first;
    int a[2], b[2], waiting;
    char buffer[8];
    struct stat status;
    assert(pipe2(a, O_CLOEXEC) == 0 && a[1] == a[0] + 1);
    if (first == 0)
        first = a[0];
    assert(a[0] == first);
    close(a[0]);
    assert(pipe(b) == 0 && b[0] == first && b[1] > a[1]);
    close(a[1]);
    int copy = dup(b[1]);
    assert(copy == a[1]);
    assert(fcntl(copy, F_GETFD) == 0 && fcntl(b[1], F_SETFD, FD_CLOEXEC) == 0 && fcntl(copy, F_GETFD) == 0);
    assert(fcntl(copy, F_SETFL, O_NONBLOCK) == 0 && (fcntl(b[1], F_GETFL) & O_NONBLOCK));
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    assert(writev(copy, parts, 2) == 5);
    assert(ioctl(b[0], FIONREAD, &waiting) == 0 && waiting == 5);
    assert(fstat(b[0], &status) == 0 && S_ISFIFO(status.st_mode));
    assert(read(b[0], buffer, 3) == 3 && buffer[2] == 'c');
    assert(read(b[1], buffer, 1) == -1 && errno == EBADF);
    assert(fcntl(b[0], F_SETPIPE_SZ, 4096) == 4096);
    while (write(copy, buffer, 8) == 8) {
    }
    assert(errno == EAGAIN);
    assert(dup2(b[0], copy) == copy);
    assert(read(copy, buffer, 2) == 2 && buffer[0] == 'd');
    close(b[1]);
    close(b[0]);
    while (read(copy, buffer, 8) > 0) {
    }
    assert(lseek(copy, 0, SEEK_CUR) == -1 && errno == ESPIPE);
    /* The last copy is left open: the next run finds the same numbers. */
}
