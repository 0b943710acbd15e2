/* SPDX-License-Identifier: MIT
 * datagrams: see net/datagrams.h. */
#include "net/datagrams.h"

#include "net/sock_stamp.h"

#include <time.h> /* linux/errqueue.h uses struct timespec without declaring it */

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/sock_diag.h>
#include <unistd.h>

_Static_assert(DATAGRAMS_STAMP_BYTES == CMSG_SPACE(sizeof(struct scm_timestamping)),
               "room for a stamp");

/* --- sending --- */

void datagrams_out_init(struct datagrams_out *out)
{
    *out = (struct datagrams_out){.n = 0};
    for (int i = 0; i < DATAGRAMS_MOST_SENT; i++)
        out->messages[i].msg_hdr = (struct msghdr){.msg_iov = &out->parts[i], .msg_iovlen = 1};
}

void datagrams_split(struct datagrams_out *out, const uint8_t *data, size_t n_bytes)
{
    const uint8_t *end = data + n_bytes;

    for (out->n = 0; data < end && out->n < DATAGRAMS_MOST_SENT; out->n++) {
        const size_t n = (size_t)(data[0] << 8 | data[1]);

        out->parts[out->n] = (struct iovec){(void *)(data + DATAGRAMS_LENGTH_BYTES), n};
        data += DATAGRAMS_LENGTH_BYTES + n;
    }
}

int datagrams_send(int fd, struct datagrams_out *out, size_t *n_bytes)
{
    const int n = sendmmsg(fd, out->messages, out->n, MSG_NOSIGNAL);

    *n_bytes = 0;
    for (int i = 0; i < n; i++)
        *n_bytes += out->parts[i].iov_len;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

/* --- receiving --- */

void datagrams_in_init(struct datagrams_in *in, uint8_t *buffer, bool are_stamped)
{
    *in = (struct datagrams_in){.are_stamped = are_stamped};
    for (int i = 0; i < DATAGRAMS_MOST_RECEIVED; i++) {
        in->parts[i] =
            (struct iovec){buffer + (size_t)i * DATAGRAMS_ROOM_BYTES + DATAGRAMS_LENGTH_BYTES,
                           DATAGRAMS_ROOM_BYTES - DATAGRAMS_LENGTH_BYTES};
        in->messages[i].msg_hdr = (struct msghdr){.msg_iov = &in->parts[i], .msg_iovlen = 1};
        if (are_stamped)
            in->messages[i].msg_hdr.msg_control = in->stamps[i].bytes;
    }
}

int datagrams_receive(int fd, struct datagrams_in *in, size_t *n_bytes)
{
    int n;

    for (int i = 0; in->are_stamped && i < DATAGRAMS_MOST_RECEIVED; i++)
        in->messages[i].msg_hdr.msg_controllen = DATAGRAMS_STAMP_BYTES;
    /* with MSG_TRUNC the lengths are those of the datagrams, whatever the room */
    n = recvmmsg(fd, in->messages, DATAGRAMS_MOST_RECEIVED, MSG_TRUNC, NULL);
    *n_bytes = 0;
    for (int i = 0; i < n; i++)
        *n_bytes += in->messages[i].msg_len;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

void datagrams_put_length(uint8_t *message, size_t n_bytes)
{
    message[0] = (uint8_t)(n_bytes >> 8);
    message[1] = (uint8_t)n_bytes;
}

struct datagram datagrams_at(struct datagrams_in *in, unsigned i)
{
    struct mmsghdr *m = &in->messages[i];
    uint8_t *message = (uint8_t *)in->parts[i].iov_base - DATAGRAMS_LENGTH_BYTES;
    const size_t room = in->parts[i].iov_len;
    const size_t n_bytes = m->msg_len < room ? m->msg_len : room;

    datagrams_put_length(message, n_bytes);
    return (struct datagram){.message = message,
                             .n_bytes = DATAGRAMS_LENGTH_BYTES + n_bytes,
                             .stamp_ns = in->are_stamped ? sock_stamp_ns(&m->msg_hdr) : 0};
}

/* --- drops --- */

int datagrams_dropped(int fd, uint32_t *n)
{
    uint32_t info[SK_MEMINFO_VARS];
    socklen_t length = sizeof info;

    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length) != 0)
        return -1;
    if (length <= SK_MEMINFO_DROPS * sizeof *info) {
        errno = ENOPROTOOPT;
        return -1;
    }
    *n = info[SK_MEMINFO_DROPS];
    return 0;
}

int datagrams_find_dropped(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint32_t n;
    int status, error;

    if (fd < 0)
        return -1;
    status = datagrams_dropped(fd, &n);
    error = errno;
    close(fd);
    errno = error;
    return status;
}
