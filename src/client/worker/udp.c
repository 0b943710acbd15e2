/* SPDX-License-Identifier: MIT
 * client_udp: see client/worker/udp.h. */
#include "client/worker/udp.h"

#include "base/clock.h"
#include "client/worker/io.h"
#include "net/sock_stamp.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Limit on receive calls per wake-up, as for TCP. */
enum { MAX_RECEIVES_PER_WAKEUP = 8 };

/* The last datagrams of a broken connection are read into a separate buffer: the worker's may be in
 * use. */
enum { REST_BYTES = 4096 };

/* Limit on receive calls for them: more than a receive buffer of the usual size holds.  The peer
 * may send more all the time. */
enum { MOST_REST = 1 << 14 };

/* Limit on errors in a row before a datagram is received. */
enum { MOST_ERRORS = 8 };

_Static_assert(DATAGRAMS_MOST_RECEIVED *DATAGRAMS_ROOM_BYTES == CLIENT_RECEIVE_BYTES,
               "the worker's receive buffer");

/* --- sending --- */

ssize_t client_udp_write(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    struct datagrams_out *out = &c->transport->udp->out;
    size_t n_taken = 0, n_sent_bytes;
    int n_sent = 1;

    while (n_taken < n_bytes && n_sent > 0) {
        datagrams_split(out, data + n_taken, n_bytes - n_taken);
        n_sent = datagrams_send(c->socket.fd, out, &n_sent_bytes);
        if (n_sent < 0) /* the datagrams before it were sent; an error that persists will be
                           reported again */
            return n_taken > 0 ? (ssize_t)n_taken : -1;
        client_io_count_sent(c, n_sent_bytes);
        n_taken += n_sent_bytes + (size_t)n_sent * DATAGRAMS_LENGTH_BYTES;
    }
    return (ssize_t)n_taken;
}

/* --- begin and end --- */

int client_udp_init(struct client_transport *t)
{
    struct client_udp *udp;

    if (!t->config->socket.datagrams)
        return 0;
    udp = calloc(1, sizeof *udp);
    if (udp == NULL)
        return -1;
    t->udp = udp;
    t->has_codec = true;
    datagrams_out_init(&udp->out);
    datagrams_in_init(&udp->in, t->received, t->config->socket.stamp_received);
    udp->dropped = calloc(t->n_conns, sizeof *udp->dropped);
    udp->heard_ns = calloc(t->n_conns, sizeof *udp->heard_ns);
    return udp->dropped != NULL && udp->heard_ns != NULL ? 0 : -1;
}

void client_udp_free(struct client_transport *t)
{
    if (t->udp == NULL)
        return;
    free(t->udp->dropped);
    free(t->udp->heard_ns);
    free(t->udp);
    t->udp = NULL;
}

/* --- receiving --- */

/* Passes the n > 0 datagrams of one call. */
static void pass_all(struct client_conn *c, unsigned n)
{
    struct client_transport *t = c->transport;
    const uint64_t epoch_ns = t->udp->in.are_stamped ? clock_monotonic_of_ns(0) : 0;
    const uint64_t received_ns = clock_now_ns();

    t->udp->heard_ns[client_conn_slot(c)] = received_ns;
    for (unsigned i = 0; i < n && c->state != CLIENT_CONN_ENDED; i++) {
        const struct datagram d = datagrams_at(&t->udp->in, i);

        t->arrived_ns = d.stamp_ns != 0 ? epoch_ns + d.stamp_ns : 0;
        t->ops->data(t->owner, c, d.message, d.n_bytes, received_ns);
    }
}

int client_udp_receive(struct client_conn *c, int fd)
{
    int n = DATAGRAMS_MOST_RECEIVED;
    size_t n_bytes;

    for (int i = 0; i < MAX_RECEIVES_PER_WAKEUP && n == DATAGRAMS_MOST_RECEIVED &&
                    c->state != CLIENT_CONN_ENDED;
         i++) {
        n = datagrams_receive(fd, &c->transport->udp->in, &n_bytes);
        if (n < 0)
            return errno;
        client_io_count_received(c, n_bytes);
        if (n > 0)
            pass_all(c, (unsigned)n);
    }
    return 0;
}

/* Returns the length of the datagram, even if the buffer is smaller; t->arrived_ns: when it
 * arrived. */
static ssize_t receive_one(struct client_transport *t, int fd, void *data, size_t n_bytes)
{
    uint64_t epoch_ns;
    ssize_t n;

    t->arrived_ns = 0;
    if (!t->config->socket.stamp_received)
        return recv(fd, data, n_bytes, MSG_TRUNC);
    n = sock_receive_stamped(fd, data, n_bytes, MSG_TRUNC, &epoch_ns);
    if (epoch_ns != 0)
        t->arrived_ns = clock_monotonic_of_ns(epoch_ns);
    return n;
}

/* An ICMP error is reported before the queued datagrams, and only once. */
static ssize_t receive_behind_errors(struct client_transport *t, int fd, void *data, size_t n_bytes)
{
    ssize_t n = -1;

    for (int k = 0; k <= MOST_ERRORS && n < 0; k++) {
        n = receive_one(t, fd, data, n_bytes);
        if (n < 0 && errno == EAGAIN)
            break;
    }
    return n;
}

void client_udp_receive_rest(struct client_conn *c, int fd)
{
    struct client_transport *t = c->transport;
    const uint64_t outer_ns = t->arrived_ns; /* of the socket being read */
    uint8_t message[DATAGRAMS_LENGTH_BYTES + REST_BYTES];
    ssize_t n;

    for (int i = 0;
         i < MOST_REST && c->state != CLIENT_CONN_ENDED &&
         (n = receive_behind_errors(t, fd, message + DATAGRAMS_LENGTH_BYTES, REST_BYTES)) >= 0;
         i++) {
        const size_t n_bytes = n < REST_BYTES ? (size_t)n : REST_BYTES;

        datagrams_put_length(message, n_bytes);
        client_io_count_received(c, (uint64_t)n);
        t->ops->data(t->owner, c, message, DATAGRAMS_LENGTH_BYTES + n_bytes, clock_now_ns());
    }
    t->arrived_ns = outer_ns;
}

/* --- drops --- */

void client_udp_count_dropped(struct client_conn *c)
{
    struct client_transport *t = c->transport;
    uint32_t *before = &t->udp->dropped[client_conn_slot(c)], now;

    if (datagrams_dropped(c->socket.fd, &now) != 0)
        return;
    tally_add(&t->figures->tally.datagrams.dropped, (uint32_t)(now - *before));
    *before = now;
}

void client_udp_end(struct client_conn *c)
{
    client_udp_count_dropped(c);
    c->transport->udp->dropped[client_conn_slot(c)] = 0;
}
