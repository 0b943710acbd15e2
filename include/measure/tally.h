/* SPDX-License-Identifier: MIT
 * tally: what one worker counts about connections and queries, and the laws the counts obey.
 *
 * Pure.  Every field is a count that only its worker changes; the main thread may read them at any
 * time (relaxed: each is exact, together they are a snapshot of no particular instant) and adds up
 * the tallies of all workers.  At the end of a run the sums are exact. */
#ifndef TCPSCALER_MEASURE_TALLY_H
#define TCPSCALER_MEASURE_TALLY_H

#include "measure/outcome.h"
#include "protocol/query.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic(uint64_t) tally_count;

/* What a query counts for: proving its connection, warm-up, or the measurement. */
enum tally_class { TALLY_PROBE, TALLY_WARMUP, TALLY_MEASURED, TALLY_N_CLASSES };

struct tally_queries {
    tally_count scheduled; /* became due */
    tally_count sent;      /* handed to a socket */
    tally_count unsent;    /* never sent: no live connection, or no id within the timeout */
    tally_count answered;
    tally_count timeout;
    tally_count error;     /* their connection ended first */
    tally_count cancelled; /* in flight when the run was over */
    tally_count blocked;   /* had to wait for a free id (whatever came of them) */
    tally_count rerouted;  /* their connection was not usable, another one was */
};

/* Messages that the server pushed.  Greetings are not among them, nor duplicates and damaged ones
 * among the first three. */
struct tally_push {
    tally_count before, measured, after; /* received; due before, in, after the measurement */
    tally_count lost;                    /* gaps in the numbers of a connection */
    tally_count duplicate;               /* numbers that had been passed */
    tally_count damaged;                 /* not what was sent, cut off, or no message at all */
    tally_count other_clock;             /* of the first three: dated by CLOCK_REALTIME */
    tally_count missed;                  /* lost or damaged, due in the measurement */
    tally_count negative;                /* received before they were due: the clocks disagree */
    tally_count unfinished;              /* connections not read to their end */
};

struct tally {
    struct {
        tally_count attempted;        /* begun, those in the place of others included */
        tally_count reopened;         /* begun in the place of one that had ended */
        tally_count connected;        /* established here */
        tally_count secured;          /* TLS's handshake came to its end */
        tally_count resumed;          /* of them, by an abbreviated one */
        tally_count proven;           /* answered at least once */
        tally_count syn_retransmits;  /* SYNs sent again: the first found no room or was lost */
        tally_count retransmits;      /* all segments sent again, by those that were established */
        tally_count with_retransmits; /* connections that had to */
        tally_count with_timeouts;    /* connections with queries that timed out */
        tally_count needless_retransmits; /* of the segments, those that their peers had already */
        tally_count opening_retransmits;  /* of the others, those before the first answer */
        tally_count ended[OUTCOME_N_PHASES][OUTCOME_N_REASONS];
    } connections;
    struct tally_queries queries[TALLY_N_CLASSES];
    struct {
        tally_count by_code[QUERY_N_CODES]; /* query_stream.says: [0] nothing, [1 + RCODE] */
        tally_count truncated;
    } answers;                                               /* to measured queries */
    tally_count errors[OUTCOME_N_PHASES][OUTCOME_N_REASONS]; /* why measured queries failed */
    struct tally_push push;
    tally_count late;       /* answers to queries that had timed out */
    tally_count duplicate;  /* answers to queries already answered */
    tally_count unknown_id; /* answers to queries never sent */
    tally_count ids_recycled;
    tally_count withdrawn; /* of those timed out: their socket was full, no byte of them has left */
    tally_count bytes_sent;
    tally_count bytes_received;
};

static inline uint64_t tally_get(const tally_count *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* One writer per count, so a load and a store do: no locked instruction on the hot path. */
static inline void tally_add(tally_count *count, uint64_t n)
{
    atomic_store_explicit(count, tally_get(count) + n, memory_order_relaxed);
}

/* For gauges. */
static inline void tally_sub(tally_count *gauge, uint64_t n)
{
    atomic_store_explicit(gauge, tally_get(gauge) - n, memory_order_relaxed);
}

/* Adds n counts, one by one: for structures that are nothing but counts. */
void tally_add_all(tally_count *into, const tally_count *from, size_t n);

/* Adds every count of `from`. */
void tally_merge(struct tally *into, const struct tally *from);

/* Connections whose outcome is known. */
uint64_t tally_connections_ended(const struct tally *t);

/* Those that ended otherwise than by the run's own will: neither finished nor cancelled. */
uint64_t tally_connections_failed(const struct tally *t);

/* Those that ended with this reason, in whatever phase. */
uint64_t tally_connections_by_reason(const struct tally *t, enum outcome_reason reason);

/* The laws, for the sums at the end of a run: asked + reopened connections = connection outcomes;
 * for each class of queries scheduled = sent + unsent and sent = answered + timeout + error +
 * cancelled; errors by outcome add up; measured answers = answers by response code; these and
 * messages = values in the response histogram; the other measured queries and messages = samples
 * beyond them.  Returns NULL, or a text that names the law broken
 * first: a bug of this program, never of its peer. */
const char *tally_check(const struct tally *t, uint64_t connections_asked, uint64_t histogram_count,
                        uint64_t histogram_beyond);

#endif
