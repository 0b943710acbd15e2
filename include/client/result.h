/* SPDX-License-Identifier: MIT
 * client_result: everything one run of tcpclient found out; what the reports print.  Data only. */
#ifndef TCPSCALER_CLIENT_RESULT_H
#define TCPSCALER_CLIENT_RESULT_H

#include "base/clock.h"
#include "client/server_stats.h"
#include "client/worker/metric.h"
#include "host/counters.h"
#include "host/diagnosis.h"
#include "host/limits.h"
#include "host/netdev.h"
#include "host/sockdiag.h"
#include "measure/batch_means.h"
#include "measure/hist.h"
#include "measure/latency.h"
#include "measure/losses.h"
#include "measure/rows.h"
#include "measure/tally.h"
#include "measure/verdict.h"

#include <stdbool.h>
#include <stdint.h>

enum client_state {
    CLIENT_RUN_ENDED,
    CLIENT_RUN_CONNECTING,
    CLIENT_RUN_RUNNING,
    CLIENT_RUN_PAUSED,
    CLIENT_RUN_DRAINING
};

/* Of --start-at and --start-file. */
struct client_start {
    bool asked;
    bool missed;          /* nothing was begun */
    uint64_t at_epoch_ns; /* 0: never learnt */
    int64_t margin_ns;    /* from connected, and told the moment, until it; below 0: after it */
    uint64_t late_ns;     /* of the first measured query of the latest worker; UINT64_MAX: none */
    struct clock_bound clock; /* when it began */
};

struct client_result {
    enum client_state state;
    uint64_t in_flight;                              /* measured queries, while it has not ended */
    double rate_now_qps;                             /* asked, likewise */
    double asked_qps;                                /* over the measurement, on average; 0: none */
    bool steered;                                    /* the rate was changed by request */
    uint64_t paused_ns;                              /* of the measurement, likewise */
    struct server_stats server_before, server_after; /* --server-control */
    uint64_t started_epoch_ns;
    struct client_start start;
    struct tally tally;                                 /* sums over all workers */
    struct hist metrics[CLIENT_N_METRICS];              /* merged */
    struct batch_means batches[CLIENT_N_QUERY_METRICS]; /* of the same values, by second */
    int64_t push_least_ns; /* the least response time of a message; INT64_MAX: none came */
    uint64_t connections_asked;
    uint64_t connections_at_begin;  /* of them, before the load */
    uint64_t connections_wanted;    /* at the end: fewer than asked by a schedule of them */
    uint64_t connections_live;      /* usable when the last query had its outcome */
    uint64_t connections_half_open; /* at the same time */
    uint64_t connections_deaf;      /* likewise: their last queries, 3 at least, timed out */
    uint64_t connect_elapsed_ns;    /* first connect begun to last one established */
    bool loaded;                    /* the measurement began */
    struct losses losses;
    bool server_was_tried, server_accepts; /* once none was left */
    bool interrupted;
    bool gave_up; /* nobody answered the first window of connections: the others were not begun */
    uint64_t load_ns;      /* warm-up and measurement, as far as they came */
    uint64_t scheduled_ns; /* length of the measurement: as asked, or until interrupted */
    uint64_t sent_ns;      /* its begin to the last query sent, at least scheduled_ns */
    bool has_growth;       /* the run was long enough to judge it */
    uint64_t in_flight_early, in_flight_late; /* means over the second and the last quarter */
    struct host_counters host_before;         /* before the first connection */
    struct host_counters host_loaded;         /* when the schedule began */
    struct host_counters host_after;          /* after the last outcome, connections still open */
    struct host_limits limits;                /* at the same time */
    bool has_sockets;
    struct sockdiag_states sockets; /* towards the target, at the same time */
    bool has_interface;             /* that leads to the target, and its counters */
    char interface[NETDEV_NAME_BYTES];
    struct netdev_counters net_loaded, net_after; /* as host_loaded and host_after */
    char shortage[DIAGNOSIS_TEXT_BYTES];  /* of memory, for which no more connections were begun */
    struct diagnosis diagnosis;           /* which limits bound, where connections are missing */
    bool log_failed;                      /* lines of the interval log are missing */
    const char *tls_version, *tls_cipher; /* of the first handshake; NULL: none */
    bool has_rows;
    struct rows_result rows;
    uint32_t n_workers;
    bool own_fd_tables;     /* every worker had its own */
    const char *broken_law; /* tally_check(); NULL: conserved */
    struct verdict_input verdict;
    unsigned doubts; /* verdict_judge() of it */
};

/* Segments that connections of this run lost after they were usable: sent again, and not in vain.
 */
static inline uint64_t client_result_lost_segments(const struct client_result *r)
{
    const uint64_t opening = tally_get(&r->tally.connections.opening_retransmits) +
                             tally_get(&r->tally.connections.needless_retransmits);
    const uint64_t all = tally_get(&r->tally.connections.retransmits);

    return all > opening ? all - opening : 0; /* those still open have not been asked */
}

static inline void client_result_latency(const struct client_result *r, enum client_metric m,
                                         struct latency *l)
{
    latency_of_hist(l, &r->metrics[m], m < CLIENT_N_QUERY_METRICS ? &r->batches[m] : NULL);
}

/* Measured messages, per second of the measurement. */
static inline double client_result_messages_per_s(const struct client_result *r)
{
    return r->scheduled_ns == 0
               ? 0
               : (double)tally_get(&r->tally.push.measured) * 1e9 / (double)r->scheduled_ns;
}

/* Established here and not taken by the server: exactly the half-open ones when nobody else
 * connects to it.  UINT64_MAX: the server was not asked. */
static inline uint64_t client_result_not_accepted(const struct client_result *r)
{
    const struct server_stats s = server_stats_between(&r->server_before, &r->server_after);
    const uint64_t connected = tally_get(&r->tally.connections.connected);

    if (!s.is_known || s.refused == UINT64_MAX)
        return UINT64_MAX;
    return connected > s.accepted + s.refused ? connected - s.accepted - s.refused : 0;
}

/* Measured queries sent, per second of schedule or, when sending took longer, of sending. */
static inline double client_result_achieved_qps(const struct client_result *r)
{
    return r->sent_ns == 0 ? 0
                           : (double)tally_get(&r->tally.queries[TALLY_MEASURED].sent) * 1e9 /
                                 (double)r->sent_ns;
}

/* Connected the first time, per second; those made again are left out.  0: not known. */
static inline double client_result_connect_rate_per_s(const struct client_result *r)
{
    const uint64_t connected = tally_get(&r->tally.connections.connected);
    const uint64_t n = connected < r->connections_at_begin ? connected : r->connections_at_begin;

    return r->connect_elapsed_ns == 0 ? 0 : (double)n * 1e9 / (double)r->connect_elapsed_ns;
}

/* Replacement connections established per second of load. */
static inline double client_result_churn_per_s(const struct client_result *r)
{
    const uint64_t connected = tally_get(&r->tally.connections.connected);

    if (r->load_ns == 0 || connected <= r->connections_asked)
        return 0;
    return (double)(connected - r->connections_asked) * 1e9 / (double)r->load_ns;
}

#endif
