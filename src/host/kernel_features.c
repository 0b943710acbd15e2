/* SPDX-License-Identifier: MIT
 * kernel_features: see host/kernel_features.h. */
#include "host/kernel_features.h"

#include "base/log.h"
#include "host/sockdiag.h"
#include "net/datagrams.h"
#include "net/sock.h"
#include "net/sock_stamp.h"
#include "net/thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static int find_fd_tables(void)
{
    return thread_can_own_fd_table() ? 0 : -1;
}

static int find_sock_diag(void)
{
    const struct sock_address nobody = {.ss.ss_family = AF_INET};
    struct sockdiag_states states;

    return sockdiag_count(&nobody, &states);
}

static int find_ipv6(void)
{
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 ? -1 : close(fd);
}

static int find_stamps(void)
{
    const int fd = sock_open_stamped();

    return fd < 0 ? -1 : close(fd);
}

static int find_proc(void)
{
    static const char *const files[] = {"/proc/sys/net/core/somaxconn",
                                        "/proc/sys/fs/nr_open",
                                        "/proc/net/sockstat",
                                        "/proc/net/netstat",
                                        "/proc/self/statm",
                                        "/proc/stat"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], R_OK) != 0)
            return -1;
    return 0;
}

void kernel_features_warn(unsigned wanted)
{
    static const struct {
        unsigned feature;
        int (*find)(void); /* 0, or -1 with errno */
        const char *name, *comes_of_it;
    } rows[] = {
        {FEATURE_FD_TABLES, find_fd_tables, "per-thread fd tables",
         "all threads share one fd limit"},
        {FEATURE_STAMPS, find_stamps, "kernel timestamps", "--kernel-ts measures nothing"},
        {FEATURE_SOCK_DIAG, find_sock_diag, "sock_diag",
         "ports in use by listeners are not skipped, socket states are unknown"},
        {FEATURE_IPV6, find_ipv6, "IPv6", "listening on IPv4 only"},
        {FEATURE_PROC, find_proc, "complete /proc",
         "some limits and statistics of this host are unknown and left out"},
        {FEATURE_DROPS, datagrams_find_dropped, "drop counts per socket",
         "datagrams that this host drops count as lost on the way"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((wanted & rows[i].feature) != 0 && rows[i].find() != 0)
            log_error("warning: no %s here (%s): %s", rows[i].name, strerror(errno),
                      rows[i].comes_of_it);
}
