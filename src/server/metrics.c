/* SPDX-License-Identifier: MIT
 * server_metrics: see server/metrics.h. */
#include "server/metrics.h"

#include "measure/outcome_report.h"

#include <inttypes.h>

/* Prints one sample of a counter per worker. */
static void put_each(struct openmetrics *m, const struct server_result *r, const char *name,
                     const char *help, size_t offset)
{
    char worker[16];

    openmetrics_family(m, OPENMETRICS_COUNTER, name, help);
    for (uint32_t i = 0; i < r->n_workers; i++) {
        snprintf(worker, sizeof worker, "%" PRIu32, i);
        openmetrics_u64(m, "worker", worker,
                        tally_get((const tally_count *)((const char *)r->workers[i] + offset)));
    }
}

static void put_refusals(struct openmetrics *m, const struct server_tally *t)
{
    openmetrics_family(m, OPENMETRICS_COUNTER, "tcpserver_refusals",
                       "Connections refused, by reason.");
    for (int i = 0; i < SERVER_N_REFUSALS; i++)
        openmetrics_u64(m, "limit", server_refusal_name((enum server_refusal)i),
                        tally_get(&t->refused[i]));
}

static void put_active(struct openmetrics *m, const struct server_result *r)
{
    char worker[16];

    openmetrics_family(m, OPENMETRICS_GAUGE, "tcpserver_connections_active",
                       "Connections open now.");
    for (uint32_t i = 0; i < r->n_workers; i++) {
        snprintf(worker, sizeof worker, "%" PRIu32, i);
        openmetrics_u64(m, "worker", worker, server_tally_active(r->workers[i]));
    }
}

static void put_host(struct openmetrics *m, const struct server_result *r)
{
    openmetrics_counter(m, "tcpserver_listen_overflows",
                        "Connections that found an accept queue of this host full.",
                        host_counters_delta(r->now.listen_overflows, r->before.listen_overflows));
    openmetrics_counter(m, "tcpserver_listen_drops",
                        "Connections dropped by this host before they were accepted.",
                        host_counters_delta(r->now.listen_drops, r->before.listen_drops));
    openmetrics_counter(m, "tcpserver_tcp_memory_pressures",
                        "Times TCP ran low on memory on this host.",
                        host_counters_memory_pressures(&r->now, &r->before));
    openmetrics_gauge(m, "tcpserver_resident_memory_bytes", "Resident memory.", r->now.rss_bytes);
    openmetrics_gauge(m, "tcpserver_tcp_memory_bytes",
                      "Kernel memory of all TCP sockets of this host.", r->now.tcp_memory_bytes);
    openmetrics_family(m, OPENMETRICS_COUNTER, "tcpserver_cpu_seconds", "CPU time used.");
    openmetrics_double(
        m, (double)(r->now.user_us - r->before.user_us + r->now.system_us - r->before.system_us) /
               1e6);
}

void server_metrics(struct openmetrics *m, const struct server_result *r)
{
    put_each(m, r, "tcpserver_connections_accepted", "Connections served.",
             offsetof(struct server_tally, accepted));
    put_each(m, r, "tcpserver_connections_refused",
             "Connections reset before they were served: a limit was reached, or the PROXY "
             "header was wrong.",
             offsetof(struct server_tally, n_refused));
    put_refusals(m, &r->total);
    put_each(m, r, "tcpserver_connections_closed", "Connections that ended.",
             offsetof(struct server_tally, n_closed));
    put_active(m, r);
    openmetrics_gauge(m, "tcpserver_connections_peak", "Peak number of open connections.", r->peak);
    outcome_report_metrics(m, "tcpserver_connection_ends", "Connections that ended, by outcome.",
                           r->total.closed);
    put_each(m, r, "tcpserver_proxy_headers", "Complete PROXY headers.",
             offsetof(struct server_tally, headers));
    put_each(m, r, "tcpserver_proxy_headers_local", "PROXY headers that name no client.",
             offsetof(struct server_tally, headers_local));
    put_each(m, r, "tcpserver_proxy_header_bytes", "Bytes of PROXY headers received.",
             offsetof(struct server_tally, header_bytes));
    put_each(m, r, "tcpserver_tls_handshakes", "TLS handshakes completed.",
             offsetof(struct server_tally, secured));
    put_each(m, r, "tcpserver_tls_handshakes_resumed", "TLS handshakes that resumed a session.",
             offsetof(struct server_tally, resumed));
    put_each(m, r, "tcpserver_messages_pushed", "Messages pushed, without greetings.",
             offsetof(struct server_tally, pushed));
    put_each(m, r, "tcpserver_messages_dropped",
             "Messages dropped because the subscriber's socket was full.",
             offsetof(struct server_tally, push_dropped));
    put_each(m, r, "tcpserver_received_bytes", "Bytes received, without PROXY headers.",
             offsetof(struct server_tally, bytes_received));
    put_each(m, r, "tcpserver_sent_bytes", "Bytes sent.",
             offsetof(struct server_tally, bytes_sent));
    put_each(m, r, "tcpserver_accept_pauses",
             "Times accepting was paused because a limit was reached.",
             offsetof(struct server_tally, accept_pauses));
    put_each(m, r, "tcpserver_back_pressure_pauses",
             "Times reading from a connection was paused until its peer read.",
             offsetof(struct server_tally, back_pressure_pauses));
    openmetrics_family(m, OPENMETRICS_GAUGE, "tcpserver_start_time_seconds",
                       "Start of the program, since the epoch.");
    openmetrics_seconds(m, r->started_epoch_ns);
    openmetrics_gauge(m, "tcpserver_paused", "Whether accepting is paused by request.",
                      r->state == SERVER_PAUSED);
    put_host(m, r);
    openmetrics_end(m);
}
