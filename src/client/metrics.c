/* SPDX-License-Identifier: MIT
 * client_metrics: see client/metrics.h. */
#include "client/metrics.h"

#include "measure/outcome_report.h"

static void put_count(struct openmetrics *m, const char *name, const char *help,
                      const tally_count *count)
{
    openmetrics_counter(m, name, help, tally_get(count));
}

static void put_connections(struct openmetrics *m, const struct client_result *r)
{
    const struct tally *t = &r->tally;

    openmetrics_counter(m, "tcpclient_connections_asked",
                        "Connections requested; on demand: clients that tried to connect.",
                        r->connections_requested);
    put_count(m, "tcpclient_connections_attempted", "Connections attempted.",
              &t->connections.attempted);
    put_count(m, "tcpclient_connections_reopened", "Connections attempted to replace others.",
              &t->connections.reopened);
    put_count(m, "tcpclient_connections_connected", "Connections established here.",
              &t->connections.connected);
    put_count(m, "tcpclient_connections_proven", "Connections that received an answer.",
              &t->connections.proven);
    openmetrics_gauge(m, "tcpclient_connections_wanted", "Connections requested now.",
                      r->connections_wanted);
    openmetrics_gauge(m, "tcpclient_connections_live", "Connections usable now.",
                      r->connections_live);
    openmetrics_gauge(m, "tcpclient_connections_half_open",
                      "Connections established here whose first query was not answered.",
                      r->connections_half_open);
    outcome_report_metrics(m, "tcpclient_connection_ends", "Connections that ended, by outcome.",
                           t->connections.ended);
}

#define PUT_UNANSWERED(count, word, which)                                                         \
    put_count(m, "tcpclient_queries_" #count, "Measured queries " which ".", &q->count);

static void put_queries(struct openmetrics *m, const struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];

    put_count(m, "tcpclient_queries_scheduled", "Measured queries that became due.", &q->scheduled);
    put_count(m, "tcpclient_queries_sent", "Measured queries sent.", &q->sent);
    put_count(m, "tcpclient_queries_unsent",
              "Measured queries never sent: no connection, or no free id.", &q->unsent);
    put_count(m, "tcpclient_queries_answered", "Measured queries answered.", &q->answered);
    TALLY_UNANSWERED(PUT_UNANSWERED)
    openmetrics_gauge(m, "tcpclient_queries_in_flight", "Measured queries in flight.",
                      r->in_flight);
    outcome_report_metrics(m, "tcpclient_query_errors",
                           "Measured queries that failed with their connection, by outcome.",
                           r->tally.errors);
}

/* Answers that belong to no query in flight. */
static void put_stray(struct openmetrics *m, const struct tally *t)
{
    put_count(m, "tcpclient_answers_late", "Answers to queries that had timed out.", &t->late);
    put_count(m, "tcpclient_answers_duplicate", "Answers to queries already answered.",
              &t->duplicate);
    put_count(m, "tcpclient_answers_unknown_id", "Answers to queries that were never sent.",
              &t->unknown_id);
}

static void put_retransmits(struct openmetrics *m, const struct tally *t)
{
    put_count(m, "tcpclient_syn_retransmits", "SYNs retransmitted, in all attempts.",
              &t->connections.syn_retransmits);
    put_count(m, "tcpclient_retransmits",
              "Segments retransmitted by established connections that have ended.",
              &t->connections.retransmits);
}

/* Only counts that never fall: those of queries that reused or waited for a connection are
 * corrected if the queries stay unsent. */
static void put_demand(struct openmetrics *m, const struct client_config *config,
                       const struct client_result *r)
{
    const struct tally_demand *d = &r->tally.demand;

    put_count(m, "tcpclient_demand_requested", "Connections requested because a query was due.",
              &d->requested);
    put_count(m, "tcpclient_demand_opened", "Of these, connections that became usable.",
              &d->opened);
    put_count(m, "tcpclient_queries_unconnected",
              "Measured queries not sent because the connection opened for them failed.",
              &r->tally.queries[TALLY_MEASURED].unconnected);
    if (!config->keepalive)
        return;
    put_count(m, "tcpclient_keepalive_timeouts", "Answers with a keepalive timeout.",
              &d->keepalives);
    put_count(m, "tcpclient_keepalive_none", "Answers without a keepalive timeout.",
              &d->no_keepalive);
    put_count(m, "tcpclient_keepalive_malformed", "Answers with a malformed keepalive timeout.",
              &d->bad_keepalive);
}

static void put_datagrams(struct openmetrics *m, const struct client_config *config,
                          const struct client_result *r)
{
    put_count(m, "tcpclient_datagrams_malformed", "Datagrams received that are too short.",
              &r->tally.datagrams.malformed);
    openmetrics_counter(m, "tcpclient_datagrams_dropped",
                        "Datagrams that this host dropped; counted when queries time out.",
                        config->knows_drops ? tally_get(&r->tally.datagrams.dropped) : UINT64_MAX);
}

/* Their lag is in the histograms, as that of queries is. */
static void put_messages(struct openmetrics *m, const struct tally_push *p)
{
    put_count(m, "tcpclient_messages_before", "Messages received that were due earlier.",
              &p->before);
    put_count(m, "tcpclient_messages_measured",
              "Messages received that were due in the measurement.", &p->measured);
    put_count(m, "tcpclient_messages_after", "Messages received that were due later.", &p->after);
    put_count(m, "tcpclient_messages_lost", "Messages missing between others of a connection.",
              &p->lost);
    put_count(m, "tcpclient_messages_duplicate", "Messages received again.", &p->duplicate);
    put_count(m, "tcpclient_messages_damaged", "Messages corrupted or truncated.", &p->damaged);
    put_count(m, "tcpclient_messages_negative",
              "Measured messages received before they were due: the clocks disagree.",
              &p->negative);
    put_count(m, "tcpclient_connections_unfinished", "Connections not read to the end.",
              &p->unfinished);
}

static void put_rate(struct openmetrics *m, const struct client_result *r)
{
    openmetrics_family(m, OPENMETRICS_GAUGE, "tcpclient_rate_asked",
                       "Queries per second requested now.");
    openmetrics_double(m, r->rate_now_qps);
}

static void put_tls(struct openmetrics *m, const struct client_result *r)
{
    put_count(m, "tcpclient_tls_handshakes", "TLS handshakes completed.",
              &r->tally.connections.secured);
    put_count(m, "tcpclient_tls_handshakes_resumed", "TLS handshakes that resumed a session.",
              &r->tally.connections.resumed);
}

static void put_proxy(struct openmetrics *m, const struct client_result *r)
{
    put_count(m, "tcpclient_proxy_headers", "PROXY headers sent.", &r->tally.headers);
    put_count(m, "tcpclient_proxy_header_bytes", "Bytes of PROXY headers sent.",
              &r->tally.header_bytes);
}

static void put_classes(struct openmetrics *m, const struct client_config *config,
                        const struct client_result *r)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } counts[] = {
        {"tcpclient_class_queries_scheduled", "Measured queries of a class that became due.",
         TALLY_OF(scheduled)},
        {"tcpclient_class_queries_sent", "Measured queries of a class that were sent.",
         TALLY_OF(sent)},
        {"tcpclient_class_queries_answered", "Measured queries of a class that were answered.",
         TALLY_OF(answered)},
        {"tcpclient_class_queries_timeout", "Measured queries of a class that timed out.",
         TALLY_OF(timeout)},
        {"tcpclient_class_queries_error",
         "Measured queries of a class whose connection ended first.", TALLY_OF(error)},
    };

    openmetrics_family(m, OPENMETRICS_GAUGE, "tcpclient_class_connections_live",
                       "Connections of a class that are usable now.");
    for (uint32_t k = 0; k < config->n_classes; k++)
        openmetrics_u64(m, "class", config->classes[k].name, r->class_live[k]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        openmetrics_family(m, OPENMETRICS_COUNTER, counts[i].name, counts[i].help);
        for (uint32_t k = 0; k < config->n_classes; k++)
            openmetrics_u64(
                m, "class", config->classes[k].name,
                tally_query_count(&r->class_tallies[k].queries[TALLY_MEASURED], counts[i].offset));
    }
}

void client_metrics(struct openmetrics *m, const struct client_config *config,
                    const struct client_result *r)
{
    put_connections(m, r);
    put_queries(m, r);
    put_stray(m, &r->tally);
    if (config->socket.datagrams)
        put_datagrams(m, config, r);
    else
        put_retransmits(m, &r->tally);
    if (config->on_demand)
        put_demand(m, config, r);
    if (config->listens)
        put_messages(m, &r->tally.push);
    if (config->tls != NULL)
        put_tls(m, r);
    if (config->proxy != PROXY_HEADER_NONE)
        put_proxy(m, r);
    if (config->n_classes > 0)
        put_classes(m, config, r);
    if (client_config_has_rate(config))
        put_rate(m, r);
    openmetrics_gauge(m, "tcpclient_paused", "Whether the load is paused by request.",
                      r->state == CLIENT_RUN_PAUSED);
    put_count(m, "tcpclient_sent_bytes", "Bytes sent.", &r->tally.bytes_sent);
    put_count(m, "tcpclient_received_bytes", "Bytes received.", &r->tally.bytes_received);
    openmetrics_hist(m, "tcpclient_response_seconds",
                     "From the intended send to the answer; unanswered: in +Inf, not in the sum.",
                     &r->metrics[CLIENT_RESPONSE]);
    openmetrics_hist(m, "tcpclient_service_seconds",
                     "From the actual send to the answer; unanswered: in +Inf, not in the sum.",
                     &r->metrics[CLIENT_SERVICE]);
    openmetrics_hist(m, "tcpclient_send_lag_seconds", "From the intended to the actual send.",
                     &r->metrics[CLIENT_SEND_LAG]);
    openmetrics_gauge(m, "tcpclient_resident_memory_bytes", "Resident memory.",
                      r->host_after.rss_bytes);
    openmetrics_end(m);
}
