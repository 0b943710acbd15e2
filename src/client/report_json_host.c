/* SPDX-License-Identifier: MIT
 * report_json_host: see client/report_json_host.h. */
#include "client/report_json_host.h"

#include "config/options_value.h"
#include "host/process_limits.h"
#include "measure/server_cost_report.h"

#include <math.h>
#include <sys/utsname.h>

/* Limit on rows in the result: those of a long run are further apart than its samples. */
enum { MOST_SAMPLES = 200 };

static void put_under_load(struct json *j, const char *key, const struct client_result *r,
                           uint64_t after, uint64_t loaded)
{
    json_known_u64(j, key, r->loaded ? host_counters_delta(after, loaded) : HOST_COUNTERS_UNKNOWN);
}

void report_json_host(struct json *j, const struct report_about *about,
                      const struct client_result *r)
{
    struct utsname name;
    char pace[16];

    json_object_begin(j, "host");
    json_string(j, "kernel", uname(&name) == 0 ? name.release : NULL);
    json_u64(j, "cpus", process_limits_cpus());
    json_string(j, "libevent", about->libevent);
    json_string(j, "backend", about->backend);
    json_u64(j, "threads", r->n_workers);
    json_bool(j, "own_fd_tables", r->own_fd_tables);
    json_string(j, "pacing", options_choice(CLIENT_PACES, about->config->pace, pace, sizeof pace));
    json_object_end(j);
}

void report_json_sockets(struct json *j, const struct client_result *r)
{
    if (!json_object_begin_if(j, "sockets", r->has_sockets))
        return;
    json_u64(j, "syn_sent", r->sockets.syn_sent);
    json_u64(j, "fin_wait", r->sockets.fin_wait);
    json_u64(j, "time_wait", r->sockets.time_wait);
    json_u64(j, "close_wait", r->sockets.close_wait);
    json_u64(j, "other", r->sockets.other);
    json_object_end(j);
}

/* NAN: unknown. */
static double per_connection(uint64_t after_bytes, uint64_t before_bytes, uint64_t n_open)
{
    const bool is_known = after_bytes != HOST_COUNTERS_UNKNOWN && after_bytes > before_bytes;

    return n_open > 0 && is_known ? (double)(after_bytes - before_bytes) / (double)n_open : NAN;
}

void report_json_resources(struct json *j, const struct client_result *r)
{
    const struct host_counters *before = &r->host_before, *after = &r->host_after;
    const uint64_t n_open = client_result_n_open(r);
    const double steal = host_counters_steal_percent(after, &r->host_loaded);

    json_object_begin(j, "resources");
    json_double(j, "user_s", (double)(after->user_us - before->user_us) / 1e6);
    json_double(j, "system_s", (double)(after->system_us - before->system_us) / 1e6);
    json_known_u64(j, "rss_bytes", after->rss_bytes);
    json_double(j, "rss_bytes_per_connection",
                per_connection(after->rss_bytes, before->rss_bytes, n_open));
    json_known_u64(j, "slab_bytes", after->slab_bytes);
    json_double(j, "slab_bytes_per_connection",
                per_connection(after->slab_bytes, before->slab_bytes, n_open));
    json_u64(j, "involuntary_switches", after->involuntary_switches - before->involuntary_switches);
    json_double(j, "steal_percent", r->loaded && steal >= 0 ? steal : NAN);
    put_under_load(j, "retransmits", r, after->retransmits, r->host_loaded.retransmits);
    put_under_load(j, "loss_probes", r, after->loss_probes, r->host_loaded.loss_probes);
    put_under_load(j, "dsacks", r, after->dsacks, r->host_loaded.dsacks);
    json_known_u64(j, "listen_overflows",
                   host_counters_delta(after->listen_overflows, before->listen_overflows));
    json_known_u64(j, "listen_drops",
                   host_counters_delta(after->listen_drops, before->listen_drops));
    json_known_u64(j, "tcp_memory_pressures", host_counters_memory_pressures(after, before));
    json_u64(j, "bytes_sent", tally_get(&r->tally.bytes_sent));
    json_u64(j, "bytes_received", tally_get(&r->tally.bytes_received));
    json_object_end(j);
}

void report_json_network(struct json *j, const struct client_result *r)
{
    const struct netdev_counters *before = &r->net_loaded, *after = &r->net_after;

    if (!json_object_begin_if(j, "network", r->has_interface && r->loaded))
        return;
    json_string(j, "interface", r->interface);
    json_u64(j, "rx_packets", after->rx_packets - before->rx_packets);
    json_u64(j, "rx_bytes", after->rx_bytes - before->rx_bytes);
    json_u64(j, "tx_packets", after->tx_packets - before->tx_packets);
    json_u64(j, "tx_bytes", after->tx_bytes - before->tx_bytes);
    json_object_end(j);
}

void report_json_cost(struct json *j, const struct client_result *r)
{
    if (r->cost == NULL)
        json_null(j, "server_cost");
    else
        server_cost_report_json(j, "server_cost", r->cost, r->watched, MOST_SAMPLES);
}
