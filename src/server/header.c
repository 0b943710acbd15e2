/* SPDX-License-Identifier: MIT
 * server_header: see server/header.h. */
#include "server/header.h"

#include "base/clock.h"
#include "net/sock.h"
#include "protocol/proxy_header.h"
#include "server/io.h"
#include "server/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct server_header {
    uint64_t deadline_ns;
    struct srcplan_tuple peer;
    struct proxy_header_stream stream;
};

static void on_header(struct polled *s, short what);

/* Returns 0 or an errno. */
static int await(struct server_conn *c, int fd, struct server_header *header)
{
    int error;

    error = poller_watch(&c->conns->poller, &c->socket, fd, EV_READ, on_header,
                         c->conns->header_timeout);
    if (error != 0)
        return error;
    header->deadline_ns = clock_now_ns() + c->conns->config->header_timeout_ns;
    c->header = header;
    c->awaits_header = true;
    server_conn_begin(c);
    return 0;
}

int server_header_open(struct server_conns *conns, int fd, const struct srcplan_tuple *peer)
{
    struct server_conn *c = server_conn_new(conns);
    struct server_header *header;
    int error;

    if (c == NULL)
        return ENOMEM;
    header = calloc(1, sizeof *header);
    if (header != NULL)
        header->peer = *peer;
    error = header != NULL ? await(c, fd, header) : ENOMEM;
    if (error != 0) {
        free(header);
        server_conn_drop(c);
    }
    return error;
}

/* Until the deadline, which further bytes do not move. */
static void await_rest(struct server_conn *c)
{
    const uint64_t now_ns = clock_now_ns(), deadline_ns = c->header->deadline_ns;
    struct timeval left;
    int error;

    if (now_ns >= deadline_ns) {
        server_conn_refuse(c, SERVER_REFUSED_HEADER_LATE);
        return;
    }
    left = clock_timeval(deadline_ns - now_ns);
    error = poller_set_own_timeout(&c->conns->poller, &c->socket, &left);
    if (error != 0)
        server_conn_refuse(c, server_refusal_of_errno(error));
}

/* The client that the header names; AF_UNSPEC: none. */
static struct srcplan_tuple identity_in(const struct proxy_header *h)
{
    struct srcplan_tuple identity = {.address.family = h->family, .port = h->source_port};

    memcpy(identity.address.bytes, h->source, sizeof h->source);
    return identity;
}

/* Returns the entry of the connection's source, or SOURCE_LIMIT_REACHED. */
static uint32_t enter_source(struct source_limit *limit, const struct srcplan_tuple *peer,
                             const struct srcplan_tuple *identity)
{
    struct sock_address address;

    sock_set_tuple(&address, identity->address.family != AF_UNSPEC ? identity : peer);
    return source_limit_enter(limit, source_limit_source((const struct sockaddr *)&address.ss));
}

/* Serves the connection, and what followed the header. */
static void serve(struct server_conn *c, const struct proxy_header *h,
                  const struct query_input *rest)
{
    struct server_conns *conns = c->conns;
    struct source_limit *limit = conns->config->source_limit;
    const struct srcplan_tuple identity = identity_in(h), peer = c->header->peer;
    uint32_t entry = 0;

    tally_add(&conns->tally.headers, 1);
    tally_add(&conns->tally.headers_local, h->family == AF_UNSPEC);
    if (limit != NULL)
        entry = enter_source(limit, &peer, &identity);
    if (entry == SOURCE_LIMIT_REACHED) {
        server_conn_refuse(c, SERVER_REFUSED_SOURCE);
        return;
    }
    server_service_begin(c, entry, &peer, &identity);
    if (c->open && rest->n_bytes > 0)
        server_io_take(c, rest->data, rest->n_bytes);
}

/* n_bytes are in the worker's buffer. */
static void take(struct server_conn *c, size_t n_bytes)
{
    struct server_conns *conns = c->conns;
    struct query_input in = {conns->buffer, n_bytes};
    struct proxy_header h;
    const enum proxy_header_event event = proxy_header_next(&c->header->stream, &in, &h);

    if (event == PROXY_HEADER_MALFORMED) /* so is what came with it */
        in.n_bytes = 0;
    tally_add(&conns->tally.header_bytes, n_bytes - in.n_bytes);
    tally_add(&conns->tally.bytes_received, in.n_bytes);
    switch (event) {
    case PROXY_HEADER_MORE:
        await_rest(c);
        break;
    case PROXY_HEADER_COMPLETE:
        serve(c, &h, &in);
        break;
    case PROXY_HEADER_MALFORMED:
        server_conn_refuse(c, SERVER_REFUSED_HEADER_MALFORMED);
        break;
    }
}

static void on_header(struct polled *s, short what)
{
    struct server_conn *c = server_conn_of(s);
    ssize_t n;

    n = recv(s->fd, c->conns->buffer, SERVER_BUFFER_BYTES, 0);
    if (n > 0)
        take(c, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        server_conn_refuse(c, SERVER_REFUSED_HEADER_MISSING);
    else if ((what & EV_READ) == 0)
        server_conn_refuse(c, SERVER_REFUSED_HEADER_LATE);
}
