/* SPDX-License-Identifier: MIT
 * sock_stamp: see net/sock_stamp.h. */
#include "net/sock_stamp.h"

#include <time.h> /* linux/errqueue.h uses struct timespec without declaring it */

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <unistd.h>

int sock_stamp_received(int fd)
{
    const int wanted = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;

    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &wanted, sizeof wanted);
}

int sock_open_stamped(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0 || sock_stamp_received(fd) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Finds the software timestamp in the control messages; the others are the hardware's. */
uint64_t sock_stamp_ns(struct msghdr *message)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(message);
    struct scm_timestamping stamps;

    for (; c != NULL; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING) {
            memcpy(&stamps, CMSG_DATA(c), sizeof stamps);
            return (uint64_t)stamps.ts[0].tv_sec * 1000000000 + (uint64_t)stamps.ts[0].tv_nsec;
        }
    return 0;
}

ssize_t sock_receive_stamped(int fd, void *data, size_t n_bytes, int flags,
                             uint64_t *arrived_epoch_ns)
{
    union {
        struct cmsghdr aligned;
        char bytes[256];
    } control;
    struct iovec vector = {data, n_bytes};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &message, flags);

    *arrived_epoch_ns = n > 0 ? sock_stamp_ns(&message) : 0;
    return n;
}
