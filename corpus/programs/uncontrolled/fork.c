/* Other processes: a child that ends at once, a child that returns into the test, a command. */
#define _GNU_SOURCE
#include <assert.h>
#include <selvedge.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

SELVEDGE_TEST(child_ends) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    waitpid(child, &status, 0);
    assert(WEXITSTATUS(status) == 3);
}

SELVEDGE_TEST(child_returns) { assert(fork() >= 0); }

SELVEDGE_TEST(command) { assert(system("true") == 0); }

SELVEDGE_TEST(by_number) { syscall(SYS_exit_group, 0); }
