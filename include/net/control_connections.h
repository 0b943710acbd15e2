/* SPDX-License-Identifier: MIT
 * control_connections: the open connections of a control port, limited in number so that silent
 * peers do not use up the program's descriptors.
 *
 * libevent's HTTP server does not report the end of a connection on which no request was completed.
 * Such an end is detected by the descriptor: it is closed, or refers to another file (fstat(2)).
 * Beyond the limit, the oldest connections are shut down: those that have sent nothing for
 * CONTROL_CONNECTIONS_GRACE_NS since they were accepted, and those that have not completed their
 * request CONTROL_CONNECTIONS_REQUEST_NS after its first byte.  A connection with unread bytes, or
 * whose request is being answered, is never shut down.  Main thread. */
#ifndef TCPSCALER_NET_CONTROL_CONNECTIONS_H
#define TCPSCALER_NET_CONTROL_CONNECTIONS_H

#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_CONNECTIONS_MOST       256u
#define CONTROL_CONNECTIONS_GRACE_NS   UNITS_NS_PER_S
#define CONTROL_CONNECTIONS_REQUEST_NS 5000000000ull

struct control_connection {
    const void *id; /* chosen by the owner; may be reused once the connection has ended */
    int fd;
    dev_t device;
    ino_t inode;
    uint64_t begun_ns;
    uint64_t received_ns; /* first byte of its request; 0: none yet */
    bool answers;         /* its request is complete */
};

struct control_connections {
    unsigned most, n;
    struct control_connection list[CONTROL_CONNECTIONS_MOST]; /* oldest first */
};

/* Limits their number to an eighth of `nofile` descriptors, at least 8 and at most
 * CONTROL_CONNECTIONS_MOST. */
void control_connections_init(struct control_connections *c, uint64_t nofile);

/* Adds an accepted connection.  Call control_connections_make_room() first. */
void control_connections_add(struct control_connections *c, const void *id, int fd,
                             uint64_t now_ns);

/* Bytes of a request were read, or all of it was.  No-op for an unknown id. */
void control_connections_received(struct control_connections *c, const void *id, uint64_t now_ns);
void control_connections_answers(struct control_connections *c, const void *id);

/* Returns whether another connection may be accepted.  If there are too many, shuts down the
 * oldest, an eighth of the limit at most; their owner then sees their end and closes them. */
bool control_connections_make_room(struct control_connections *c, uint64_t now_ns);

#endif
