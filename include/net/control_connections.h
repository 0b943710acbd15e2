/* SPDX-License-Identifier: MIT
 * control_connections: the open connections of a control port, so that peers who say nothing do not
 * use up the program's descriptors.
 *
 * libevent's HTTP server tells nothing of a connection on which no request completes, so that one
 * that has ended is known by its descriptor: it is closed or another file (fstat(2)).  Beyond the
 * most there may be, the oldest are shut down, from CONTROL_CONNECTIONS_GRACE_NS on after they have
 * begun.  Main thread. */
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
    } list[CONTROL_CONNECTIONS_MOST]; /* the oldest first */
};

/* At most an eighth of `nofile` descriptors, 8 at least and CONTROL_CONNECTIONS_MOST at most. */
void control_connections_init(struct control_connections *c, uint64_t nofile);

/* Another one has been accepted; only after control_connections_make_room(). */
void control_connections_add(struct control_connections *c, int fd, uint64_t now_ns);

/* Returns whether another one may be accepted.  Where there are too many, shuts the oldest down;
 * their owner finds them ended and closes them. */
bool control_connections_make_room(struct control_connections *c, uint64_t now_ns);

#endif
