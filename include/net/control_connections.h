/* SPDX-License-Identifier: MIT
 * control_connections: the open connections of a control port, limited in number so that silent
 * peers do not use up the program's descriptors.
 *
 * libevent's HTTP server does not report the end of a connection on which no request was completed.
 * Such an end is detected by the descriptor: it is closed, or refers to another file (fstat(2)).
 * Beyond the limit, the oldest connections are shut down, but not before
 * CONTROL_CONNECTIONS_GRACE_NS after they were accepted.  Main thread. */
#ifndef TCPSCALER_NET_CONTROL_CONNECTIONS_H
#define TCPSCALER_NET_CONTROL_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_CONNECTIONS_MOST     256u
#define CONTROL_CONNECTIONS_GRACE_NS 1000000000ull

struct control_connections {
    unsigned most, n;
    struct {
        int fd;
        dev_t device;
        ino_t inode;
        uint64_t begun_ns;
    } list[CONTROL_CONNECTIONS_MOST]; /* oldest first */
};

/* Limits their number to an eighth of `nofile` descriptors, at least 8 and at most
 * CONTROL_CONNECTIONS_MOST. */
void control_connections_init(struct control_connections *c, uint64_t nofile);

/* Adds an accepted connection.  Call control_connections_make_room() first. */
void control_connections_add(struct control_connections *c, int fd, uint64_t now_ns);

/* Returns whether another connection may be accepted.  If there are too many, shuts the oldest
 * down; their owner then sees their end and closes them. */
bool control_connections_make_room(struct control_connections *c, uint64_t now_ns);

#endif
