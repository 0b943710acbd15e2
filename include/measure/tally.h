/* SPDX-License-Identifier: MIT
 * tally: one worker's counts of connections and queries, and the conservation laws they obey.
 * Pure.
 *
 * Only its worker changes a count.  The main thread may read counts at any time (relaxed: each is
 * exact, together they are not a consistent snapshot) and adds up the tallies of all workers.  At
 * the end of a run the sums are exact. */
#ifndef TCPSCALER_MEASURE_TALLY_H
#define TCPSCALER_MEASURE_TALLY_H

#include "measure/outcome.h"
#include "protocol/query.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic(uint64_t) tally_count;

/* What a query is for: proving its connection, warm-up, or the measurement. */
enum tally_class { TALLY_PROBE, TALLY_WARMUP, TALLY_MEASURED, TALLY_N_CLASSES };

/* How queries that were sent end without an answer: count, what reports call it, which queries.
 * Names of counts are stable: they are keys in the JSON result, and part of the name of a metric.
 */
#define TALLY_UNANSWERED(X)                                                                        \
    X(timeout, "timed out", "that timed out")                                                      \
    X(error, "failed", "whose connection ended first")                                             \
    X(cancelled, "cancelled", "in flight when the run ended")

#define TALLY_COUNT(count, word, which) tally_count count;

struct tally_queries {
    tally_count scheduled; /* became due */
    tally_count sent;      /* handed to a socket */
    tally_count unsent;    /* never sent: no live connection, or no id within the timeout */
    tally_count answered;
    TALLY_UNANSWERED(TALLY_COUNT)
    tally_count blocked;     /* had to wait for a free id, whatever their outcome */
    tally_count rerouted;    /* moved to another connection because theirs was not usable */
    tally_count unconnected; /* of the unsent: the connection opened for them failed */
};

/* Offset of a count, for tally_count_query(). */
#define TALLY_OF(count) offsetof(struct tally_queries, count)

/* Classes of connections by the queries that they carried: 0, 1, 2, 3-4, 5-8, ... */
enum { TALLY_CARRIED_CLASSES = 65 };

/* Connections that are opened when a query is due (--on-demand). */
struct tally_demand {
    tally_count requested; /* connections, each because a query was due */
    tally_count withdrawn; /* of these, never attempted: the run ended first */
    tally_count opened;    /* connections that became usable */
    tally_count reused;    /* queries sent on a connection that was open when they were due */
    tally_count waited;    /* queries sent that waited for their connection to open */
    tally_count carried;   /* queries sent on connections that have ended */
    tally_count carried_by[TALLY_CARRIED_CLASSES]; /* connections that were usable and have ended */
    /* Answers with edns-tcp-keepalive (RFC 7828), without, and those that could not be parsed. */
    tally_count keepalives, no_keepalive, bad_keepalive;
};

/* Messages that the server pushed, without greetings.  The first three counts do not include
 * duplicate and damaged ones. */
struct tally_push {
    tally_count before, measured, after; /* received; due before, in, after the measurement */
    tally_count lost;                    /* gaps in a connection's sequence numbers */
    tally_count duplicate;               /* sequence numbers seen before */
    tally_count damaged;                 /* corrupted, truncated, or not a message */
    tally_count other_clock;             /* of the first three: timed with CLOCK_REALTIME */
    tally_count missed;                  /* lost or damaged, due in the measurement */
    tally_count negative;   /* of the measured: before they were due, as clocks disagree */
    tally_count unfinished; /* connections not read to the end */
};

struct tally {
    struct {
        tally_count attempted;        /* attempted, including replacements */
        tally_count reopened;         /* attempted to replace a connection that ended */
        tally_count held;             /* due on schedule, but delayed by the connect window */
        tally_count connected;        /* established here */
        tally_count replaced;         /* of these, replacements */
        tally_count secured;          /* TLS handshake completed */
        tally_count resumed;          /* of these, with an abbreviated handshake */
        tally_count proven;           /* answered at least once */
        tally_count syn_retransmits;  /* SYN retransmits: the first SYN found a full queue or was
                                       * lost */
        tally_count retransmits;      /* retransmits of established connections, SYNs included */
        tally_count with_retransmits; /* connections with retransmits */
        tally_count with_timeouts;    /* connections with queries that timed out */
        /* connections that ended unresponsive (client/worker/transport.h), with data that the peer
         * had not acknowledged */
        tally_count unresponsive_unacknowledged;
        tally_count unproven_unacknowledged; /* those never answered that ended with such data */
        /* those unresponsive when the run ended them, never answered */
        tally_count unresponsive_unproven;
        tally_count answering; /* those live at the end, answered, without a timeout since */
        tally_count needless_retransmits; /* spurious: the peer had the segment already */
        tally_count opening_retransmits;  /* of the others, those before the first answer */
        tally_count ended[OUTCOME_N_PHASES][OUTCOME_N_REASONS];
    } connections;
    struct tally_queries queries[TALLY_N_CLASSES];
    struct {
        tally_count by_code[QUERY_N_CODES]; /* query_stream.status: [0] none, [1 + RCODE] */
        tally_count truncated;
    } answers;                                               /* to measured queries */
    tally_count errors[OUTCOME_N_PHASES][OUTCOME_N_REASONS]; /* why measured queries failed */
    struct tally_push push;
    struct tally_demand demand;
    struct {
        tally_count malformed; /* received, too short for an answer */
        tally_count dropped;   /* by the kernel at this host's sockets */
    } datagrams;
    tally_count late;       /* answers to queries that had timed out */
    tally_count duplicate;  /* answers to queries already answered */
    tally_count unknown_id; /* answers to queries never sent */
    tally_count ids_recycled;
    tally_count withdrawn;  /* of those timed out: the socket was full, no byte was sent */
    tally_count bytes_sent; /* without PROXY headers */
    tally_count bytes_received;
    tally_count headers;      /* PROXY headers sent to the last byte ... */
    tally_count header_bytes; /* ... and their bytes, those of unfinished ones included */
};

static inline uint64_t tally_get(const tally_count *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* Each count has one writer, so a load and a store suffice: no locked instruction on the hot path.
 */
static inline void tally_add(tally_count *count, uint64_t n)
{
    atomic_store_explicit(count, tally_get(count) + n, memory_order_relaxed);
}

/* The same, for a count that is read before others: a thread that reads this one with
 * memory_order_acquire also sees all that was added to the others earlier. */
static inline void tally_add_last(tally_count *count, uint64_t n)
{
    atomic_store_explicit(count, tally_get(count) + n, memory_order_release);
}

/* Adds 1 to the count at an offset. */
static inline void tally_count_query(struct tally_queries *q, size_t offset)
{
    tally_add((tally_count *)((char *)q + offset), 1);
}

/* Returns the count at an offset. */
static inline uint64_t tally_query_count(const struct tally_queries *q, size_t offset)
{
    return tally_get((const tally_count *)((const char *)q + offset));
}

/* For gauges. */
static inline void tally_sub(tally_count *gauge, uint64_t n)
{
    atomic_store_explicit(gauge, tally_get(gauge) - n, memory_order_relaxed);
}

/* Adds n counts element by element, for structures that contain only counts. */
void tally_add_all(tally_count *into, const tally_count *from, size_t n);

/* Adds every count of `from`. */
void tally_merge(struct tally *into, const struct tally *from);

/* Returns the number of queries sent, of all classes. */
uint64_t tally_sent(const struct tally *t);

/* Returns the number of queries of a class that were sent and have ended without an answer. */
uint64_t tally_ended_unanswered(const struct tally_queries *q);

/* Connections whose outcome is known. */
uint64_t tally_connections_ended(const struct tally *t);

/* Connections that ended for a reason that has a remedy (measure/outcome.h). */
uint64_t tally_connections_failed(const struct tally *t);

/* Connections that ended with this reason, in any phase. */
uint64_t tally_connections_by_reason(const struct tally *t, enum outcome_reason reason);

/* Checks the laws on the sums at the end of a run: requested + reopened connections = connection
 * outcomes; for each class of queries scheduled = sent + unsent and sent = answered + timeout +
 * error + cancelled; errors by outcome add up, including those of queries whose connection could
 * not be opened; measured answers = answers by response code; answers and messages = values in the
 * response histogram; the other measured queries and messages = samples beyond it.  Returns NULL,
 * or the law broken first: a bug of this program, never of its peer. */
const char *tally_check(const struct tally *t, uint64_t connections_requested,
                        uint64_t histogram_count, uint64_t histogram_beyond);

/* The laws of one class of queries: scheduled and sent ones as above. */
const char *tally_check_queries(const struct tally_queries *q);

/* Makes counts fit together that were read one after the other while their worker changed them:
 * what has ended was sent, and what was sent was due.  Returns how many are in flight: sent, and
 * without an outcome. */
uint64_t tally_settle_queries(struct tally_queries *q);

/* Likewise for a run with connections on demand: connections requested = attempted + withdrawn and
 * opened = ended, by the queries carried; queries sent = reused + waited = carried; with
 * --keepalive, answers = with, without and with a malformed edns-tcp-keepalive. */
const char *tally_check_demand(const struct tally *t, bool keepalive);

/* Returns the class of a connection that carried n queries, at most 2^63.  _first, _last: the
 * bounds of a class. */
unsigned tally_carried_class(uint64_t n_queries);
uint64_t tally_carried_first(unsigned class);
uint64_t tally_carried_last(unsigned class);

#endif
