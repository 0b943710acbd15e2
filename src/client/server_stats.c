/* SPDX-License-Identifier: MIT
 * server_stats: see client/server_stats.h. */
#include "client/server_stats.h"

#include "client/start_time.h"
#include "host/counters.h"
#include "measure/openmetrics.h"
#include "net/control_client.h"

#include <stdlib.h>

enum { ANSWER_BYTES = 1 << 23 }; /* enough for 4,096 threads */

static uint64_t read_sum(const char *text, const char *name)
{
    uint64_t sum;

    return openmetrics_sum(text, name, &sum) == 0 ? sum : UINT64_MAX;
}

static uint64_t read_start(const char *text)
{
    char value[OPENMETRICS_VALUE_BYTES];
    uint64_t epoch_ns;

    if (openmetrics_value(text, "tcpserver_start_time_seconds", value) != 0 ||
        start_time_parse(value, &epoch_ns) != 0)
        return UINT64_MAX;
    return epoch_ns;
}

static void read_all(struct server_stats *s, const char *text)
{
    s->accepted = read_sum(text, "tcpserver_connections_accepted_total");
    s->refused = read_sum(text, "tcpserver_connections_refused_total");
    s->closed = read_sum(text, "tcpserver_connections_closed_total");
    s->active = read_sum(text, "tcpserver_connections_active");
    s->bytes_received = read_sum(text, "tcpserver_received_bytes_total");
    s->bytes_sent = read_sum(text, "tcpserver_sent_bytes_total");
    s->accept_pauses = read_sum(text, "tcpserver_accept_pauses_total");
    s->back_pressure_pauses = read_sum(text, "tcpserver_back_pressure_pauses_total");
    s->listen_overflows = read_sum(text, "tcpserver_listen_overflows_total");
    s->listen_drops = read_sum(text, "tcpserver_listen_drops_total");
    s->started_epoch_ns = read_start(text);
    s->is_known = s->accepted != UINT64_MAX;
}

int server_stats_read(struct server_stats *s, const char *address,
                      const struct control_token *token, int wait_ms, char *error)
{
    char *text = malloc(ANSWER_BYTES);
    int failed;

    *s = (struct server_stats){.is_known = false};
    if (text == NULL) {
        snprintf(error, CONTROL_SOCKET_ERROR_BYTES, "out of memory");
        return -1;
    }
    failed = control_client_ask(address, token, wait_ms, "/metrics", text, ANSWER_BYTES, error);
    if (!failed)
        read_all(s, text);
    if (!failed && !s->is_known)
        snprintf(error, CONTROL_SOCKET_ERROR_BYTES, "no tcpserver at '%.150s'", address);
    free(text);
    return s->is_known ? 0 : -1;
}

bool server_stats_same_server(const struct server_stats *a, const struct server_stats *b)
{
    return a->started_epoch_ns != UINT64_MAX && a->started_epoch_ns == b->started_epoch_ns;
}

/* Older versions report no start time: only a counter that has fallen reveals a restart. */
static bool was_restarted(const struct server_stats *earlier, const struct server_stats *later)
{
    return later->started_epoch_ns != earlier->started_epoch_ns ||
           later->accepted < earlier->accepted;
}

struct server_stats server_stats_between(const struct server_stats *earlier,
                                         const struct server_stats *later)
{
    static const struct server_stats none;
    const bool is_known = earlier->is_known && later->is_known;
    const bool restarted = is_known && was_restarted(earlier, later);
    const struct server_stats *from = restarted ? &none : earlier;

    return (struct server_stats){
        .is_known = is_known,
        .restarted = restarted,
        .started_epoch_ns = later->started_epoch_ns,
        .accepted = host_counters_delta(later->accepted, from->accepted),
        .refused = host_counters_delta(later->refused, from->refused),
        .closed = host_counters_delta(later->closed, from->closed),
        .active = later->active,
        .bytes_received = host_counters_delta(later->bytes_received, from->bytes_received),
        .bytes_sent = host_counters_delta(later->bytes_sent, from->bytes_sent),
        .accept_pauses = host_counters_delta(later->accept_pauses, from->accept_pauses),
        .back_pressure_pauses =
            host_counters_delta(later->back_pressure_pauses, from->back_pressure_pauses),
        .listen_overflows = host_counters_delta(later->listen_overflows, from->listen_overflows),
        .listen_drops = host_counters_delta(later->listen_drops, from->listen_drops),
    };
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

struct server_stats server_stats_sum(const struct server_stats *a, const struct server_stats *b)
{
    return (struct server_stats){
        .is_known = a->is_known && b->is_known,
        .restarted = a->restarted || b->restarted,
        .accepted = sum_of(a->accepted, b->accepted),
        .refused = sum_of(a->refused, b->refused),
        .closed = sum_of(a->closed, b->closed),
        .active = sum_of(a->active, b->active),
        .bytes_received = sum_of(a->bytes_received, b->bytes_received),
        .bytes_sent = sum_of(a->bytes_sent, b->bytes_sent),
        .accept_pauses = sum_of(a->accept_pauses, b->accept_pauses),
        .back_pressure_pauses = sum_of(a->back_pressure_pauses, b->back_pressure_pauses),
        .listen_overflows = UINT64_MAX,
        .listen_drops = UINT64_MAX,
    };
}
