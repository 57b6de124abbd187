// A descriptor that is sent to another.
#include <assert.h>
#include <selvedge.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

SELVEDGE_TEST(descriptor_in_message) {
    int ends[2], sent = 1;
    char byte = 'x', control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &sent, sizeof sent);
    assert(sendmsg(ends[0], &message, 0) == 1);
}
