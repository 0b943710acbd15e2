/* SPDX-License-Identifier: MIT
 * server_opts: the command line of tcpserver. */
#ifndef TCPSCALER_SERVER_OPTS_H
#define TCPSCALER_SERVER_OPTS_H

#include "config/options.h"

#include <stdbool.h>
#include <stdint.h>

#define SERVER_OPTS_MOST_CONNECTIONS 16000000u
#define SERVER_OPTS_MOST_THREADS     4096u

/* Per direction.  Without a limit, buffers grow to megabytes if the peer never reads. */
#define SERVER_OPTS_SOCKET_BUFFER_BYTES 65536u

/* As given, otherwise the defaults. */
struct server_opts {
    const char *config, *profile;
    bool print_config;
    uint16_t port; /* 0: any free port */
    const char *bind;
    bool bind_given;
    int protocol;           /* enum server_protocol */
    double push_rate_per_s; /* 0: no push */
    uint64_t push_bytes;
    int push_select;  /* enum server_select */
    uint64_t threads; /* 0: auto */
    const char *cpu;
    bool busy_poll;
    uint64_t backlog;
    uint64_t max_connections; /* 0: as many as fit */
    uint64_t max_per_source;  /* 0: no limit */
    uint64_t idle_timeout_ns; /* 0: none */
    bool proxy;               /* --proxy-protocol */
    uint64_t sndbuf_bytes, rcvbuf_bytes;
    const char *tls_cert, *tls_key;
    int tls_min; /* enum tls_min */
    const char *json, *connections_out;
    const char *control, *control_token;
    const char *user; /* NULL: no switch */
    uint64_t stats_interval_ns;
    bool plan, force;
    bool quiet;
    unsigned verbose;
};

/* The option table, for --help, the JSON result and tests. */
struct options *server_opts_table(void);

/* Like options_parse(), plus the PORT argument. */
enum options_result server_opts_parse(struct server_opts *opts, int argc, char **argv, FILE *out,
                                      char *error);

#endif
