/* SPDX-License-Identifier: MIT
 * sock_diag_steps: whether the kernel lists its sockets. */
#ifndef TCPSCALER_TESTS_UNIT_HOST_WATCH_SOCK_DIAG_STEPS_H
#define TCPSCALER_TESTS_UNIT_HOST_WATCH_SOCK_DIAG_STEPS_H

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/* Not with qemu-user. */
static bool has_sock_diag(void)
{
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno != EPROTONOSUPPORT;
}

#endif
