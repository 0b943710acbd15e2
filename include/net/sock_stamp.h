/* SPDX-License-Identifier: MIT
 * sock_stamp: when received data arrived in the kernel (SO_TIMESTAMPING, software, receive).
 * Times are in CLOCK_REALTIME, ns since the epoch; 0: unknown.  Any thread. */
#ifndef TCPSCALER_NET_SOCK_STAMP_H
#define TCPSCALER_NET_SOCK_STAMP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Makes the kernel timestamp what a socket receives.  Returns 0, or -1 with errno. */
int sock_stamp_received(int fd);

/* Opens a socket that does nothing but have the kernel timestamp received data.  The kernel does so
 * for all sockets while one of the host requests it, and begins with some delay after the first:
 * while this one is open, no answer on a new connection lacks its timestamp.  Returns a descriptor,
 * or -1 with errno. */
int sock_open_stamped(void);

/* Like recv(2), and returns when the last received segment, or the datagram, arrived in
 * *arrived_epoch_ns. */
ssize_t sock_receive_stamped(int fd, void *data, size_t n_bytes, int flags,
                             uint64_t *arrived_epoch_ns);

/* Returns when what was received with these control messages arrived. */
uint64_t sock_stamp_ns(struct msghdr *message);

#endif
