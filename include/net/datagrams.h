/* SPDX-License-Identifier: MIT
 * datagrams: sends and receives datagrams of a connected socket, many with one system call.
 *
 * The caller's side has messages that begin with their length in 2 bytes, as DNS has them in a
 * stream (RFC 1035, 4.2.2); datagrams lack it (4.2.1).  Any thread; a structure belongs to one. */
#ifndef TCPSCALER_NET_DATAGRAMS_H
#define TCPSCALER_NET_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
    DATAGRAMS_LENGTH_BYTES = 2,
    DATAGRAMS_MOST_SENT = 64,                             /* with one call */
    DATAGRAMS_MOST_RECEIVED = 16,                         /* likewise */
    DATAGRAMS_ROOM_BYTES = 4096,                          /* for one that is received */
    DATAGRAMS_STAMP_BYTES = CMSG_SPACE(6 * sizeof(long)), /* struct scm_timestamping */
};

/* --- sending --- */

struct datagrams_out {
    struct mmsghdr messages[DATAGRAMS_MOST_SENT];
    struct iovec parts[DATAGRAMS_MOST_SENT];
    unsigned n; /* of these */
};

void datagrams_out_init(struct datagrams_out *out);

/* Makes a datagram of each of the first DATAGRAMS_MOST_SENT messages.  `data` has whole ones, and
 * is borrowed. */
void datagrams_split(struct datagrams_out *out, const uint8_t *data, size_t n_bytes);

/* Sends them in order.  Returns how many the socket accepted, or -1 with errno if it accepted none
 * for another reason than lack of room.  *n_bytes: their bytes, without the lengths. */
int datagrams_send(int fd, struct datagrams_out *out, size_t *n_bytes);

/* --- receiving --- */

struct datagrams_in {
    struct mmsghdr messages[DATAGRAMS_MOST_RECEIVED];
    struct iovec parts[DATAGRAMS_MOST_RECEIVED];
    struct {
        _Alignas(struct cmsghdr) uint8_t bytes[DATAGRAMS_STAMP_BYTES];
    } stamps[DATAGRAMS_MOST_RECEIVED];
    bool are_stamped;
};

struct datagram {
    uint8_t *message;  /* with its length; cut off if longer than the room */
    size_t n_bytes;    /* of the message, with its length */
    uint64_t stamp_ns; /* when it arrived in the kernel, by CLOCK_REALTIME; 0: unknown */
};

/* buffer: DATAGRAMS_MOST_RECEIVED * DATAGRAMS_ROOM_BYTES, borrowed.  are_stamped: the sockets stamp
 * what they receive (struct sock_connect_options). */
void datagrams_in_init(struct datagrams_in *in, uint8_t *buffer, bool are_stamped);

/* Receives what is there, up to DATAGRAMS_MOST_RECEIVED.  Returns how many, 0 if there are none, or
 * -1 with errno: of a datagram sent before, if an ICMP message said that it did not arrive.
 * *n_bytes: all their bytes, whether cut off or not. */
int datagrams_receive(int fd, struct datagrams_in *in, size_t *n_bytes);

/* Datagram i < datagrams_receive(). */
struct datagram datagrams_at(struct datagrams_in *in, unsigned i);

/* Writes the length of the message of n_bytes that follows. */
void datagrams_put_length(uint8_t *message, size_t n_bytes);

/* --- drops --- */

/* Gets how many datagrams the kernel has dropped at this socket: its receive buffer was full, or a
 * checksum wrong (SO_MEMINFO, since Linux 4.12).  Wraps around.  Returns 0, or -1 with errno. */
int datagrams_dropped(int fd, uint32_t *n);

/* Checks whether the kernel says so.  Returns 0, or -1 with errno. */
int datagrams_find_dropped(void);

#endif
