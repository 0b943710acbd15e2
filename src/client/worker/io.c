/* SPDX-License-Identifier: MIT
 * client_io: see client/worker/io.h. */
#include "client/worker/io.h"

#include "client/worker/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct client_backlog {
    size_t n_bytes, n_sent, capacity;
    size_t n_header; /* of the PROXY header, which precedes all other bytes */
    uint8_t data[];
};

/* Doubles the size, so each byte is copied twice at most. */
static struct client_backlog *enlarge(struct client_backlog *old, size_t n_more)
{
    const size_t n_bytes = old != NULL ? old->n_bytes : 0, needed = n_bytes + n_more;
    const size_t capacity = old != NULL && needed < 2 * old->capacity ? 2 * old->capacity : needed;
    struct client_backlog *b;

    if (old != NULL && needed <= old->capacity)
        return old;
    b = realloc(old, sizeof *b + capacity);
    if (b == NULL)
        return NULL;
    if (old == NULL)
        b->n_bytes = b->n_sent = b->n_header = 0;
    b->capacity = capacity;
    return b;
}

/* Reading stays enabled.  Writability is edge-triggered:
 * when TCP runs out of memory (net.ipv4.tcp_mem), epoll calls a socket writable that refuses data;
 * with EV_ET the next event comes once an acknowledgement has freed some.  UDP takes its memory
 * elsewhere.  Returns 0 or an errno. */
static int watch_writable(struct client_conn *c, bool writable)
{
    const int edge = c->transport->udp == NULL ? EV_ET : 0;

    c->awaits_room = writable;
    return poller_change(&c->transport->poller, &c->socket,
                         (short)(EV_READ | (writable ? EV_WRITE | edge : 0)));
}

int client_io_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    if (n_bytes > 0) {
        struct client_backlog *b = enlarge(c->backlog, n_bytes);

        if (b == NULL)
            return ENOMEM;
        memcpy(b->data + b->n_bytes, data, n_bytes);
        b->n_bytes += n_bytes;
        c->backlog = b;
    }
    return c->awaits_room ? 0 : watch_writable(c, true);
}

int client_io_tell_again(struct client_conn *c)
{
    return watch_writable(c, true);
}

int client_io_stop_waiting(struct client_conn *c)
{
    return watch_writable(c, false);
}

void client_io_count_sent(struct client_conn *c, uint64_t n_bytes)
{
    struct client_record *record = client_conn_record(c);

    tally_add(&c->transport->figures->tally.bytes_sent, n_bytes);
    if (record != NULL)
        record->bytes_sent += n_bytes;
}

/* --- sending --- */

/* Part of the header was sent; `ends`: its last part. */
static void count_header(const struct client_conn *c, size_t n_bytes, bool ends)
{
    struct tally *tally = &c->transport->figures->tally;

    tally_add(&tally->header_bytes, n_bytes);
    tally_add(&tally->headers, ends);
}

/* Keeps the rest of the header, before all other bytes.  Returns 0 or an errno. */
static int keep_header(struct client_conn *c, const uint8_t *rest, size_t n_bytes)
{
    const int error = client_io_keep(c, rest, n_bytes);

    if (c->backlog != NULL)
        c->backlog->n_header = n_bytes;
    return error;
}

/* One call, so that the header takes neither a call nor a segment of its own.  Returns like
 * put(), into which it must not be inlined: its array would cost every other send 30 instructions.
 */
__attribute__((noinline)) static ssize_t
send_with_header(struct client_conn *c, const uint8_t *data, size_t n_bytes, int flags)
{
    uint8_t header[PROXY_HEADER_V1_MAX_BYTES];
    const struct client_transport *t = c->transport;
    const size_t n_header = client_proxy_header(
        t->config, client_conn_target(c), (uint64_t)t->first_conn + client_conn_slot(c), header);
    struct iovec parts[] = {{.iov_base = header, .iov_len = n_header},
                            {.iov_base = (void *)data, .iov_len = n_bytes}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_bytes > 0 ? 2 : 1};
    ssize_t n = sendmsg(c->socket.fd, &message, MSG_NOSIGNAL | flags);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return -1;
    if (n < 0)
        n = 0;
    c->header_due = false;
    if ((size_t)n >= n_header) {
        count_header(c, n_header, true);
        return n - (ssize_t)n_header;
    }
    count_header(c, (size_t)n, false);
    errno = keep_header(c, header + n, n_header - (size_t)n);
    return errno == 0 ? 0 : -1;
}

static inline ssize_t put(struct client_conn *c, const uint8_t *data, size_t n_bytes, int flags)
{
    ssize_t n;

    if (c->header_due)
        return send_with_header(c, data, n_bytes, flags);
    n = send(c->socket.fd, data, n_bytes, MSG_NOSIGNAL | flags);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

ssize_t client_io_put(struct client_conn *c, const uint8_t *data, size_t n_bytes, int flags)
{
    return put(c, data, n_bytes, flags);
}

ssize_t client_io_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    const ssize_t n = put(c, data, n_bytes, 0);

    if (n >= 0)
        client_io_count_sent(c, (uint64_t)n);
    return n;
}

int client_io_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = 0;

    if (c->backlog == NULL)
        n = client_io_send(c, data, n_bytes);
    if (n < 0)
        return errno;
    return (size_t)n < n_bytes ? client_io_keep(c, data + n, n_bytes - (size_t)n) : 0;
}

/* How many of the next n bytes to send belong to the header. */
static size_t header_part(const struct client_backlog *b, size_t n)
{
    const size_t left = b->n_header > b->n_sent ? b->n_header - b->n_sent : 0;

    return n < left ? n : left;
}

size_t client_io_backlog_bytes(const struct client_conn *c)
{
    return c->backlog != NULL ? c->backlog->n_bytes : 0;
}

int client_io_send_kept(struct client_conn *c)
{
    struct client_backlog *b = c->backlog;
    const ssize_t n = put(c, b->data + b->n_sent, b->n_bytes - b->n_sent, 0);
    size_t n_header;

    if (n < 0)
        return errno;
    n_header = header_part(b, (size_t)n);
    if (n_header > 0)
        count_header(c, n_header, b->n_sent + n_header == b->n_header);
    client_io_count_sent(c, (uint64_t)n - n_header);
    b->n_sent += (size_t)n;
    if (b->n_sent == b->n_bytes)
        client_io_discard(c);
    return 0;
}

void client_io_discard(struct client_conn *c)
{
    free(c->backlog);
    c->backlog = NULL;
}
