/* SPDX-License-Identifier: MIT
 * laws: see laws.h. */
#include "laws.h"

#include "classes.h"
#include "client/result.h"
#include "client/workers.h"
#include "laws_classes.h"
#include "ledger.h"
#include "ledger_push.h"
#include "ledger_tls.h"
#include "ledger_values.h"
#include "peer_header.h"
#include "peer_restart.h"
#include "setup.h"
#include "tcp.h"
#include "violation.h"

#include <inttypes.h>

static void equal(const char *what, uint64_t is, uint64_t expected)
{
    LAW(is == expected, "%s: %" PRIu64 ", not %" PRIu64, what, is, expected);
}

/* is, or up to `unsure` more than that. */
static void about(const char *what, uint64_t is, uint64_t expected, uint64_t unsure)
{
    LAW(is >= expected && is <= expected + unsure, "%s: %" PRIu64 ", not %" PRIu64, what, is,
        expected);
}

static void check_queries(const struct tally *t)
{
    static const char *const names[] = {"probes", "queries of the warm-up", "queries"};

    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        const struct tally_queries *q = &t->queries[class];
        const struct ledger_class *l = &ledger_sums.classes[class];

        LAW(tally_get(&q->sent) == l->sent && tally_get(&q->answered) == l->answered &&
                tally_get(&q->timeout) == l->expired &&
                tally_get(&q->error) + tally_get(&q->cancelled) == l->lost,
            "%s: sent %" PRIu64 ", answered %" PRIu64 ", expired %" PRIu64 ", lost %" PRIu64
            "; in truth %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
            names[class], tally_get(&q->sent), tally_get(&q->answered), tally_get(&q->timeout),
            tally_get(&q->error) + tally_get(&q->cancelled), l->sent, l->answered, l->expired,
            l->lost);
    }
    about("late answers", tally_get(&t->late), ledger_sums.n_late, ledger_sums.n_unsure);
    about("duplicates", tally_get(&t->duplicate), ledger_sums.n_duplicate, ledger_sums.n_unsure);
    about("unknown ids", tally_get(&t->unknown_id), ledger_sums.n_unknown, ledger_sums.n_unsure);
    about("malformed datagrams", tally_get(&t->datagrams.malformed),
          ledger_sums.n_malformed - ledger_sums.n_malformed_unsure, ledger_sums.n_malformed_unsure);
    equal("recycled ids", tally_get(&t->ids_recycled), ledger_sums.n_recycled);
    equal("withdrawn queries", tally_get(&t->withdrawn), ledger_sums.n_withdrawn);
}

static void check_network(const struct tally *t)
{
    equal("PROXY headers", tally_get(&t->headers), peer_header_figures.n_complete);
    equal("bytes of PROXY headers", tally_get(&t->header_bytes), peer_header_figures.n_bytes);
    equal("bytes sent", tally_get(&t->bytes_sent),
          tcp_figures.bytes_sent - peer_header_figures.n_bytes);
    equal("bytes received", tally_get(&t->bytes_received), tcp_figures.bytes_received);
    LAW(tally_get(&t->connections.connected) <= tcp_figures.n_established,
        "connected: %" PRIu64 " of %" PRIu64, tally_get(&t->connections.connected),
        tcp_figures.n_established);
    LAW(tally_get(&t->connections.proven) <= tally_get(&t->connections.connected),
        "proven: more than connected");
}

static void check_latencies(const struct scenario *s, const struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const struct hist *m = r->metrics;
    const uint64_t answered = tally_get(&q->answered);

    ledger_values_check(CLIENT_RESPONSE, &m[CLIENT_RESPONSE], tally_get(&q->scheduled) - answered);
    ledger_values_check(CLIENT_SERVICE, &m[CLIENT_SERVICE], tally_get(&q->sent) - answered);
    ledger_values_check(CLIENT_NET, &m[CLIENT_NET], s->stamps ? tally_get(&q->sent) - answered : 0);
    ledger_values_check(CLIENT_SEND_LAG, &m[CLIENT_SEND_LAG], 0);
    if (!setup_has_conn_per_query(s)) /* there it is how late the connection was opened */
        ledger_values_check(CLIENT_OWN, &m[CLIENT_OWN], 0);
    else
        equal("measured arrivals", m[CLIENT_OPEN_LAG].count + m[CLIENT_OPEN_LAG].beyond,
              tally_get(&q->scheduled));
    equal("connect times", m[CLIENT_CONNECT].count,
          setup_is_udp(s) ? 0 : tally_get(&r->tally.connections.connected));
    if (s->connect_rate > 0 && s->connect_arrival > 0 && !setup_has_conn_per_query(s))
        equal("arrivals", m[CLIENT_DUE_CONNECTED].count + m[CLIENT_DUE_CONNECTED].beyond,
              tally_get(&r->tally.connections.attempted));
}

/* If the measurement was interrupted, its end is the one that the worker noticed. */
static void check_push(const struct scenario *s, const struct client_result *r, bool was_stopped)
{
    const struct tally_push *t = &r->tally.push;
    const struct ledger_push_sums *l = &ledger_push_sums;
    const struct hist *m = r->metrics;

    equal("messages", tally_get(&t->before) + tally_get(&t->measured) + tally_get(&t->after),
          l->before + l->measured + l->after);
    equal("lost messages", tally_get(&t->lost), l->lost);
    equal("messages sent twice", tally_get(&t->duplicate), l->duplicate);
    equal("damaged messages", tally_get(&t->damaged), l->damaged);
    if (was_stopped)
        return;
    equal("messages before the measurement", tally_get(&t->before), l->before);
    equal("measured messages", tally_get(&t->measured), l->measured);
    equal("missed messages", tally_get(&t->missed), l->missed);
    ledger_values_check(CLIENT_RESPONSE, &m[CLIENT_RESPONSE], l->missed);
    ledger_values_check(CLIENT_SERVICE, &m[CLIENT_SERVICE], l->missed_damaged);
    ledger_values_check(CLIENT_NET, &m[CLIENT_NET], s->stamps ? l->missed_damaged : 0);
    ledger_values_check(CLIENT_SEND_LAG, &m[CLIENT_SEND_LAG], 0);
    ledger_values_check(CLIENT_OWN, &m[CLIENT_OWN], 0);
}

static void check_tls(const struct tally *t, const struct hist *handshakes)
{
    const struct ledger_tls_sums *l = &ledger_tls_sums;

    equal("secured", tally_get(&t->connections.secured), l->n_secured);
    equal("resumed", tally_get(&t->connections.resumed), l->n_resumed);
    equal("handshake times", handshakes->count, l->n_secured);
    if (l->n_secured > 0)
        LAW(handshakes->min_ns == l->min_ns && handshakes->max_ns == l->max_ns,
            "handshake times: extremes");
}

/* Everything that was open is closed, and every query in flight has its outcome. */
static void check_gauges(const struct client_workers *workers)
{
    equal("in flight at the end", CLIENT_WORKERS_GAUGE(workers, in_flight), 0);
    equal("live at the end", CLIENT_WORKERS_GAUGE(workers, n_live), 0);
    equal("half-open at the end", CLIENT_WORKERS_GAUGE(workers, n_half_open), 0);
    equal("unresponsive at the end", CLIENT_WORKERS_GAUGE(workers, n_unresponsive), 0);
}

/* It acts in a turn after its wake-up, once it has finished its other work. */
uint64_t laws_most_late_ns(const struct scenario *s)
{
    const uint64_t interval_ns = s->interval_us * 1000;
    const uint64_t each_ns =
        s->closed_loop ? interval_ns / s->connections : 1000000000 / (s->rate_qps + 1);

    /* a buffer smaller than a message takes a call and more for each of its bytes */
    if (s->sndbuf_bytes > 0 && s->sndbuf_bytes < classes_longest_query())
        return UINT64_MAX;
    if (setup_has_conn_per_query(s) || s->listen || each_ns < 100 * s->call_ns ||
        s->preempt_permille > 0 || s->malloc_ppm > 0 || s->steps > 0)
        return UINT64_MAX;
    return 20 * 1000000ull + 4 * s->wakeup_us * 1000 + 1000 * s->connections * s->call_ns;
}

/* A worker that has time sends when a query is due; on demand, the query may wait. */
static void check_lag(const struct scenario *s, const struct hist *lag)
{
    const uint64_t most_ns = s->on_demand ? UINT64_MAX : laws_most_late_ns(s);

    LAW(lag->max_ns <= most_ns, "a query was sent %" PRIu64 " ns after it was due", lag->max_ns);
}

/* Whether each connection begins to open as soon as the connect rate allows it. */
static bool only_rate_delays(const struct scenario *s)
{
    return s->keepalive + s->memory_grant + s->planned_ports + s->fd_limit == 0 &&
           s->socket_permille + s->bind_permille + s->connect_permille + s->watch_permille == 0 &&
           s->connect_window >= s->connections && laws_most_late_ns(s) < 100000000;
}

uint64_t laws_most_late_connect_ns(const struct scenario *s)
{
    return only_rate_delays(s) ? laws_most_late_ns(s) : UINT64_MAX;
}

/* Whether each connection opens at once, and the drain is long enough for it.  False if it may have
 * to wait for answers on the previous connection, which is being closed. */
static bool all_connect(const struct scenario *s)
{
    const uint64_t trip_us = s->latency_us + s->jitter_us;

    return only_rate_delays(s) && s->connect_rate == 0 &&
           s->syn_lost_permille + s->refused_permille + s->accept_queue + s->stall_us +
                   s->handshake_permille + s->restart_every_us ==
               0 &&
           s->connect_timeout_us > 200000 + 4 * trip_us && s->drain_us > 200000 + 6 * trip_us;
}

static void check_demand(const struct scenario *s, const struct tally *t, bool was_stopped)
{
    const struct tally_queries *measured = &t->queries[TALLY_MEASURED];
    const struct tally_queries *warmup = &t->queries[TALLY_WARMUP];
    const char *broken = tally_check_demand(t, s->keepalive && s->protocol == 0);

    LAW(broken == NULL, "the product's own law: %s", broken);
    equal("connections opened", tally_get(&t->demand.opened), ledger_sums.n_usable);
    equal("queries on open connections", tally_get(&t->demand.reused), ledger_sums.n_reused);
    equal("queries that waited", tally_get(&t->demand.waited), ledger_sums.n_waited);
    if (!was_stopped && all_connect(s))
        equal("queries never sent, although their connection opened",
              tally_get(&measured->unsent) + tally_get(&warmup->unsent),
              tally_get(&measured->unconnected) + tally_get(&warmup->unconnected));
}

/* Whether nothing but restarts can keep a connection from opening, or end one. */
static bool only_restarts(const struct scenario *s)
{
    return s->lost_permille + s->late_permille + s->deaf_permille + s->wrong_id_permille +
                   s->malformed_permille + s->fin_permille + s->reset_permille +
                   s->damaged_permille + s->handshake_permille + s->most_served ==
               0 &&
           s->syn_lost_permille + s->refused_permille + s->accept_queue + s->stall_us +
                   s->close_on_timeout ==
               0 &&
           s->memory_grant + s->planned_ports + s->fd_limit + s->socket_permille +
                   s->bind_permille + s->connect_permille + s->watch_permille + s->send_permille +
                   s->receive_permille + s->short_permille + s->again_permille ==
               0 &&
           s->restart_how != PEER_RESTART_SILENT;
}

/* After a restart, all clients are back in time. */
static void check_return(const struct scenario *s, const struct client_result *r, uint64_t end_ns)
{
    const uint64_t trip_us = s->latency_us + s->jitter_us;
    const uint64_t opening_us = 6 * trip_us + s->connections * s->service_us * 20;
    const uint64_t n_windows = s->connections * s->workers / s->connect_window + 2;
    const uint64_t pace_us = s->connect_rate > 0 ? s->connections * 1000000 / s->connect_rate : 0;
    const uint64_t most_us =
        200000 + 10 * s->backoff_us + n_windows * opening_us + pace_us + s->wakeup_us * 100;
    const uint64_t up_ns = peer_restart_last_ns(end_ns);

    if (!s->reconnect || !only_restarts(s) || s->on_demand || s->population > 0 || s->steps > 0 ||
        s->listen || setup_is_udp(s) || setup_has_conn_per_query(s) ||
        laws_most_late_ns(s) == UINT64_MAX || s->timeout_us < most_us ||
        s->connect_timeout_us < most_us || up_ns + most_us * 1000 > end_ns)
        return;
    equal("clients that did not return after a restart", r->metrics[CLIENT_RECOVERY].beyond, 0);
}

void laws_check(const struct scenario *s, const struct client_config *config,
                const struct client_workers *workers, const struct client_result *r,
                uint64_t begin_ns, bool was_stopped)
{
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const char *broken =
        tally_check(&r->tally, r->connections_requested, response->count, response->beyond);

    LAW(broken == NULL, "the product's own law: %s", broken);
    laws_check_classes(config, r);
    check_queries(&r->tally);
    check_network(&r->tally);
    if (!s->listen)
        check_latencies(s, r);
    check_gauges(workers);
    check_tls(&r->tally, &r->metrics[CLIENT_HANDSHAKE]);
    if (s->listen)
        check_push(s, r, was_stopped);
    if (s->on_demand)
        check_demand(s, &r->tally, was_stopped);
    check_lag(s, &r->metrics[CLIENT_SEND_LAG]);
    if (begin_ns != 0 && !was_stopped && !s->closed_loop && !s->listen && s->steps == 0)
        laws_check_arrivals(config, r, begin_ns);
    if (begin_ns != 0 && !was_stopped && s->restart_every_us > 0)
        check_return(s, r, begin_ns + client_config_load_ns(config));
}
