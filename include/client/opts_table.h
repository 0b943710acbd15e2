/* SPDX-License-Identifier: MIT
 * client_opts_table: the options of tcpclient, one row each, and their settings. */
#ifndef TCPSCALER_CLIENT_OPTS_TABLE_H
#define TCPSCALER_CLIENT_OPTS_TABLE_H

#include "base/endpoint.h"
#include "client/search/slo.h"
#include "config/options.h"
#include "config/options_section.h"
#include "host/watch/target.h"
#include "protocol/query_init.h"
#include "workload/backoff.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_OPTS_MOST_CONNECTIONS 16000000
/* The last choice of --protocol; those before it are QUERY_PROTOCOLS. */
#define CLIENT_PROTOCOL_LISTEN ((int)QUERY_N_KINDS)

/* What --find searches for. */
enum client_find_what {
    CLIENT_FIND_NONE,
    CLIENT_FIND_RATE,
    CLIENT_FIND_CONNECTIONS,
    CLIENT_FIND_CONNECT_RATE,
    CLIENT_N_FINDS
};
#define CLIENT_FINDS "none|rate|connections|connect-rate"

/* What --sweep changes between searches. */
enum client_sweep_axis {
    CLIENT_SWEEP_NONE,
    CLIENT_SWEEP_CONNECTIONS,
    CLIENT_SWEEP_QUERIES_PER_CONN,
    CLIENT_SWEEP_SIZE
};
#define CLIENT_SWEEP_MOST 16u /* searches */

enum client_yes_no { CLIENT_YES, CLIENT_NO };
#define CLIENT_YES_NO "yes|no"

struct client_opts_class;

/* As given, otherwise the defaults. */
struct client_opts {
    struct endpoint server; /* parsed from target and port */
    const char *config, *profile;
    bool print_config;
    /* load */
    double rate_qps;
    uint64_t interval_ns;
    const char *schedule;
    bool steps_from_stdin, slopes_from_stdin;
    int arrival, select, loop, pace, protocol;
    int transport; /* enum client_carrier */
    const char *qname, *qtype, *query_file;
    uint64_t edns_bytes, padding_bytes;
    bool dnssec;
    uint64_t size_bytes;
    uint64_t seed;
    /* search */
    int find; /* enum client_find_what */
    const char *slo, *find_range, *find_width;
    uint64_t find_time_ns;
    const char *sweep;
    int sweep_axis;   /* parsed sweep: enum client_sweep_axis, ... */
    unsigned n_sweep; /* ... and the increasing values */
    uint64_t sweep_values[CLIENT_SWEEP_MOST];
    struct slo goals;                     /* parsed slo */
    double find_min, find_max, find_part; /* parsed find_range, find_width */
    /* connections */
    const char *target;
    uint16_t port;
    uint64_t connections;
    struct options_sections class;
    struct client_opts_class *classes; /* parsed from it (client/opts_class.h); NULL: none */
    unsigned n_classes;
    uint64_t max_connections; /* 0: auto */
    const char *conn_schedule;
    double connect_rate_per_s;
    int connect_arrival; /* enum client_connect_arrival */
    uint64_t connect_window;
    bool window_caps; /* --connect-window was given with --connect-arrival */
    uint64_t connect_timeout_ns;
    const char *source, *sport;
    int proxy; /* enum proxy_header_version */
    const char *proxy_source;
    int prove; /* enum client_yes_no */
    int close;
    uint64_t queries_per_conn;
    bool reconnect;
    bool on_demand;
    uint64_t idle_close_ns; /* 0: never */
    bool keepalive;
    const char *backoff;
    struct backoff waits; /* parsed from it */
    bool quickack;
    int kernel_ts; /* enum client_kernel_ts */
    uint64_t sndbuf_bytes, rcvbuf_bytes;
    uint64_t threads; /* 0: auto */
    const char *cpu;
    bool busy_poll;
    /* TLS */
    bool tls;
    const char *tls_name, *tls_ca, *tls_ciphers;
    bool tls_insecure;
    int tls_min;    /* enum tls_min */
    int tls_resume; /* enum client_yes_no */
    /* time */
    uint64_t duration_ns; /* 0: until interrupted */
    const char *start_at, *start_file;
    uint64_t start_epoch_ns; /* parsed from start_at; 0: none */
    uint64_t late_max_ns;
    uint64_t settle_ns, warmup_ns, drain_ns, timeout_ns;
    int on_timeout;
    /* output */
    bool raw;
    int raw_full;
    uint64_t sample_one_in;
    const char *output, *json, *hlog, *hgrm, *connections_out, *find_out, *sweep_out, *report;
    bool plan, force;
    int require; /* index into VERDICT_PERCENTILES */
    const char *assertion;
    struct slo asserted; /* parsed from it; n is 0 without one */
    uint64_t stats_interval_ns;
    const char *control, *control_token, *server_control;
    const char *watch;
    struct watch_target watch_target; /* parsed from it */
    bool quiet;
    unsigned verbose;
};

/* The option table, for --help, the JSON result and tests. */
struct options *client_opts_table(void);

/* Returns whether a schedule sets the rate. */
bool client_opts_has_schedule(const struct client_opts *opts);

#endif
