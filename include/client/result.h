/* SPDX-License-Identifier: MIT
 * client_result: everything a run of tcpclient found out, as printed by the reports.  Data only. */
#ifndef TCPSCALER_CLIENT_RESULT_H
#define TCPSCALER_CLIENT_RESULT_H

#include "base/clock.h"
#include "client/accept_queue.h"
#include "client/goals.h"
#include "client/servers.h"
#include "client/worker/class.h"
#include "client/worker/class_figures.h"
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
#include "measure/timeout_counts.h"
#include "measure/verdict.h"

#include <stdbool.h>
#include <stdint.h>

struct client_sweep;
struct server_cost;
struct watch_series;

enum client_state {
    CLIENT_RUN_ENDED,
    CLIENT_RUN_CONNECTING,
    CLIENT_RUN_RUNNING,
    CLIENT_RUN_PAUSED,
    CLIENT_RUN_DRAINING,
    CLIENT_RUN_N_STATES
};

/* --start-at and --start-file. */
struct client_start {
    bool requested;
    uint64_t offset_ns;   /* of CLOCK_REALTIME when the run began */
    bool missed;          /* too late: nothing was started */
    uint64_t at_epoch_ns; /* 0: never known */
    int64_t margin_ns;    /* time left once connected and told the time; negative: late */
    /* Send lag of the first measured query, maximum over all workers; UINT64_MAX: none. */
    uint64_t late_ns;
    struct clock_bound clock; /* at the start */
};

struct client_result {
    enum client_state state;
    uint64_t in_flight;  /* measured queries; 0 after the run */
    double rate_now_qps; /* requested; 0 after the run */
    /* Average requested over the measurement; before it, what was planned; 0: none. */
    double requested_qps;
    bool steered;                         /* the rate was changed by request */
    uint64_t paused_ns;                   /* by request, during the measurement */
    const struct client_servers *servers; /* of --server-control; NULL: none, or the run goes on */
    uint64_t started_epoch_ns;
    uint64_t measured_epoch_ns; /* when the measurement was to begin; 0: the load did not */
    struct client_start start;
    struct tally tally;                    /* sum over all workers */
    struct hist metrics[CLIENT_N_METRICS]; /* merged over all workers */
    /* Batches of the same values, one per second. */
    struct batch_means batches[CLIENT_N_QUERY_METRICS];
    /* The figures of each class, added up over all workers; class_live: its connections when the
     * last query had its outcome, class_live_loaded: just before the load ended. */
    struct class_tally class_tallies[CLIENT_CLASS_MOST];
    struct client_class_times class_times[CLIENT_CLASS_MOST];
    uint64_t class_live[CLIENT_CLASS_MOST], class_live_loaded[CLIENT_CLASS_MOST];
    int64_t push_least_ns; /* lowest response time of a message; INT64_MAX: no message */
    uint64_t connections_requested;
    uint64_t connections_at_begin; /* requested before the load */
    /* Number of the last connection requested: the others need not be consecutive.  On demand, the
     * last that could be. */
    uint64_t last_connection;
    /* At the end: fewer than requested if a connection schedule says so. */
    uint64_t connections_wanted;
    uint64_t connections_live_loaded; /* usable just before the load ended */
    uint64_t connections_live;        /* usable when the last query had its outcome */
    uint64_t connections_half_open;   /* at that time */
    /* At that time: at least their last 3 queries timed out, and nothing arrived since they were
     * sent. */
    uint64_t connections_unresponsive;
    uint64_t connect_elapsed_ns; /* first connect started to last connection established */
    bool loaded;                 /* the load began, perhaps with a warm-up */
    uint64_t syn_retransmits_loaded, replaced_loaded; /* at the start of the schedule */
    struct losses losses;
    struct timeout_counts timeouts; /* of edns-tcp-keepalive; not counted without --keepalive */
    bool server_was_tried,
        server_accepts; /* after all connections, or those to a port, were lost */
    bool interrupted;
    bool gave_up; /* no connection of the first window was answered: no others were opened */
    uint64_t
        n_futile; /* the last ones, none usable, after which opening ended; 0: all were opened */
    uint64_t load_ns; /* elapsed part of warm-up and measurement */
    /* Length of the measurement: as requested, or until interrupted; 0: it did not begin. */
    uint64_t scheduled_ns;
    /* Start of the measurement to the last query sent; at least scheduled_ns. */
    uint64_t sent_ns;
    /* Likewise, without those that waited for an id, which the server owed. */
    uint64_t unblocked_ns;
    uint64_t longest_hold_ns; /* for which the connect rate made a measured query wait */
    bool has_growth; /* the run was long enough to judge growth, which losses do not explain */
    uint64_t in_flight_early, in_flight_late; /* least of the second and the last quarter */
    struct host_counters host_before;         /* before the first connection */
    struct host_counters host_loaded;         /* at the start of the schedule */
    /* After the last outcome, before closing connections. */
    struct host_counters host_after;
    struct client_accept_queue queue_before, queue_after; /* at the times of host_before, _after */
    struct host_limits limits;                            /* at that time */
    bool has_sockets;
    struct sockdiag_states sockets; /* of connections to the target, at that time */
    bool has_interface;             /* interface that leads to the target, and its counters */
    char interface[NETDEV_NAME_BYTES];
    struct netdev_counters net_loaded, net_after; /* at the times of host_loaded and host_after */
    char shortage[DIAGNOSIS_TEXT_BYTES];  /* the shortage of memory that stopped connecting */
    struct diagnosis diagnosis;           /* limiting factors, if connections are missing */
    bool log_failed;                      /* lines of the interval log are missing */
    const char *tls_version, *tls_cipher; /* of the first handshake; NULL: none */
    bool has_rows;
    struct rows_result rows;
    /* What the server paid, and the samples; NULL: not watched, or the run is still in progress. */
    const struct server_cost *cost;
    const struct watch_series *watched;
    const struct client_sweep *sweep; /* searches of --find; NULL: none */
    uint32_t n_workers;
    bool own_fd_tables;     /* each worker had its own */
    const char *broken_law; /* client_laws_broken(); NULL: all totals add up */
    struct verdict_input verdict;
    unsigned doubts; /* verdict_judge() of `verdict` */
    struct client_goals goals;
};

/* Returns the number of segments that usable connections lost: retransmits that were needed. */
static inline uint64_t client_result_lost_segments(const struct client_result *r)
{
    const uint64_t opening = tally_get(&r->tally.connections.opening_retransmits) +
                             tally_get(&r->tally.connections.needless_retransmits);
    const uint64_t all = tally_get(&r->tally.connections.retransmits);

    /* Excludes connections that are still open: unknown. */
    return all > opening ? all - opening : 0;
}

static inline void client_result_latency(const struct client_result *r, enum client_metric m,
                                         struct latency *l)
{
    latency_of_hist(l, &r->metrics[m], m < CLIENT_N_QUERY_METRICS ? &r->batches[m] : NULL);
}

/* Returns how many of the connections requested were not even tried. */
static inline uint64_t client_result_n_not_attempted(const struct client_result *r)
{
    return r->connections_requested -
           (tally_get(&r->tally.connections.attempted) - tally_get(&r->tally.connections.reopened));
}

/* Returns the connections that failed, without those half-open at the end: they are counted on
 * their own, though they end as failed unless an answer still arrives. */
static inline uint64_t client_result_n_failed(const struct client_result *r)
{
    const uint64_t failed = tally_connections_failed(&r->tally);
    const uint64_t ended = tally_get(&r->tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN]);
    const uint64_t n = r->connections_half_open < ended ? r->connections_half_open : ended;

    return r->state == CLIENT_RUN_ENDED ? failed - n : failed;
}

/* Returns the number of connections open when host_after was read. */
static inline uint64_t client_result_n_open(const struct client_result *r)
{
    return r->connections_live + r->connections_half_open;
}

/* Returns measured messages per second of the measurement. */
static inline double client_result_messages_per_s(const struct client_result *r)
{
    return r->scheduled_ns == 0
               ? 0
               : (double)tally_get(&r->tally.push.measured) * 1e9 / (double)r->scheduled_ns;
}

/* Returns the number of connections established here that no server accepted: exactly the half-open
 * ones if these servers have no other clients.  UINT64_MAX: unknown. */
static inline uint64_t client_result_not_accepted(const struct client_result *r,
                                                  const struct server_stats *all)
{
    const struct server_stats s = *all;
    const uint64_t connected = tally_get(&r->tally.connections.connected);

    if (!s.is_known || s.restarted || s.refused == UINT64_MAX)
        return UINT64_MAX;
    return connected > s.accepted + s.refused ? connected - s.accepted - s.refused : 0;
}

/* Returns measured queries sent per second: of the schedule or, if sending took longer, of sending.
 */
static inline double client_result_achieved_qps(const struct client_result *r)
{
    return r->sent_ns == 0 ? 0
                           : (double)tally_get(&r->tally.queries[TALLY_MEASURED].sent) * 1e9 /
                                 (double)r->sent_ns;
}

/* Returns the number of connections opened before the load, without replacements. */
static inline uint64_t client_result_n_first(const struct client_result *r)
{
    const uint64_t n =
        tally_get(&r->tally.connections.connected) - tally_get(&r->tally.connections.replaced);

    return n < r->connections_at_begin ? n : r->connections_at_begin;
}

/* Returns these per second.  0: unknown. */
static inline double client_result_connect_rate_per_s(const struct client_result *r)
{
    return r->connect_elapsed_ns == 0
               ? 0
               : (double)client_result_n_first(r) * 1e9 / (double)r->connect_elapsed_ns;
}

/* Returns replacement connections established per second of load. */
static inline double client_result_churn_per_s(const struct client_result *r)
{
    const uint64_t n = tally_get(&r->tally.connections.replaced) - r->replaced_loaded;

    return r->load_ns == 0 ? 0 : (double)n * 1e9 / (double)r->load_ns;
}

#endif
