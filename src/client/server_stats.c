/* SPDX-License-Identifier: MIT
 * server_stats: see client/server_stats.h. */
#include "client/server_stats.h"

#include "host/counters.h"
#include "measure/openmetrics.h"

#include <stdlib.h>

enum { ANSWER_BYTES = 1 << 22 }; /* enough for 4,096 threads */

static uint64_t read_sum(const char *text, const char *name)
{
    uint64_t sum;

    return openmetrics_sum(text, name, &sum) == 0 ? sum : UINT64_MAX;
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
    failed = control_socket_ask(address, token, wait_ms, "/metrics", text, ANSWER_BYTES, error);
    if (!failed)
        read_all(s, text);
    if (!failed && !s->is_known)
        snprintf(error, CONTROL_SOCKET_ERROR_BYTES, "no tcpserver at '%.150s'", address);
    free(text);
    return s->is_known ? 0 : -1;
}

struct server_stats server_stats_between(const struct server_stats *earlier,
                                         const struct server_stats *later)
{
    return (struct server_stats){
        .is_known = earlier->is_known && later->is_known,
        .accepted = host_counters_delta(later->accepted, earlier->accepted),
        .refused = host_counters_delta(later->refused, earlier->refused),
        .closed = host_counters_delta(later->closed, earlier->closed),
        .active = later->active,
        .bytes_received = host_counters_delta(later->bytes_received, earlier->bytes_received),
        .bytes_sent = host_counters_delta(later->bytes_sent, earlier->bytes_sent),
        .accept_pauses = host_counters_delta(later->accept_pauses, earlier->accept_pauses),
        .back_pressure_pauses =
            host_counters_delta(later->back_pressure_pauses, earlier->back_pressure_pauses),
        .listen_overflows = host_counters_delta(later->listen_overflows, earlier->listen_overflows),
        .listen_drops = host_counters_delta(later->listen_drops, earlier->listen_drops),
    };
}
