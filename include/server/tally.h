/* SPDX-License-Identifier: MIT
 * server_tally: the counters of one tcpserver worker.  Only the worker writes; the main thread may
 * read at any time (measure/tally.h). */
#ifndef TCPSCALER_SERVER_TALLY_H
#define TCPSCALER_SERVER_TALLY_H

#include "measure/outcome.h"
#include "measure/tally.h"

/* Why a connection was refused: id, name.  Names are stable: they are keys in the JSON result. */
#define SERVER_REFUSALS(X)                                                                         \
    X(CONNECTIONS, "connection limit")                                                             \
    X(SOURCE, "connections of one source")                                                         \
    X(FDS, "fd limit")                                                                             \
    X(MEMORY, "no memory")                                                                         \
    X(WATCHES, "epoll limit")                                                                      \
    X(HEADER_MALFORMED, "malformed PROXY header")                                                  \
    X(HEADER_MISSING, "no PROXY header")                                                           \
    X(HEADER_LATE, "late PROXY header")

#define SERVER_REFUSAL_ENUM(id, name) SERVER_REFUSED_##id,

enum server_refusal { SERVER_REFUSALS(SERVER_REFUSAL_ENUM) SERVER_N_REFUSALS };

const char *server_refusal_name(enum server_refusal r);

/* For an errno of accept(2) or epoll_ctl(2): EMFILE and ENFILE are "fd limit", ENOSPC is "epoll
 * limit", all others are "no memory". */
enum server_refusal server_refusal_of_errno(int error);

struct server_tally {
    tally_count accepted;                   /* connections served */
    tally_count refused[SERVER_N_REFUSALS]; /* reset before they were served */
    tally_count n_refused;                  /* sum of the above */
    tally_count closed[OUTCOME_N_PHASES][OUTCOME_N_REASONS];
    tally_count n_closed; /* sum of the above, tally_add_last(); active = accepted - n_closed */
    tally_count secured;  /* TLS: completed handshakes */
    tally_count resumed;  /* of these, with an abbreviated handshake */
    tally_count headers;  /* complete PROXY headers ... */
    tally_count headers_local;  /* ... of these, naming no client */
    tally_count header_bytes;   /* received, those of refused connections included */
    tally_count bytes_received; /* without PROXY headers */
    tally_count bytes_sent;
    tally_count pushed;        /* messages accepted by sockets, without greetings */
    tally_count push_dropped;  /* messages dropped because the socket was full */
    tally_count accept_pauses; /* times accepting paused because fds or memory ran out */
    /* Times that reading from a connection paused until its peer read. */
    tally_count back_pressure_pauses;
};

/* Counts a refused connection. */
static inline void server_tally_refuse(struct server_tally *t, enum server_refusal why)
{
    tally_add(&t->refused[why], 1);
    tally_add(&t->n_refused, 1);
}

/* Adds every counter of `from`. */
void server_tally_merge(struct server_tally *into, const struct server_tally *from);

static inline uint64_t server_tally_active(const struct server_tally *t)
{
    /* first, so that it never exceeds accepted (tally_add_last()) */
    const uint64_t closed = atomic_load_explicit(&t->n_closed, memory_order_acquire);

    return tally_get(&t->accepted) - closed;
}

#endif
