/* SPDX-License-Identifier: MIT
 * server_config: the configuration of tcpserver's workers.  Constant while they run, except what is
 * used to accept (overflow, spare) and the counts at its end. */
#ifndef TCPSCALER_SERVER_CONFIG_H
#define TCPSCALER_SERVER_CONFIG_H

#include "base/cpulist.h"
#include "net/tls_context.h"
#include "server/overflow.h"
#include "server/source_limit.h"
#include "server/spare.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In the order of the option's choices. */
enum server_protocol { SERVER_ECHO, SERVER_PING };

#define SERVER_PROTOCOLS "echo|ping"

enum server_select { SERVER_SELECT_RANDOM, SERVER_SELECT_ROUND_ROBIN };

#define SERVER_SELECTS "random|round-robin"

struct memory_watch;
struct server_listing;

struct server_config {
    enum server_protocol protocol;
    double push_rate_per_s;   /* messages per second over all connections; 0: answers instead */
    uint32_t push_bytes;      /* size of a message */
    int push_select;          /* enum server_select */
    uint64_t max_connections; /* of all workers; 0: no configured limit */
    struct source_limit *source_limit; /* NULL: no limit per source */
    uint64_t idle_timeout_ns;          /* 0: none */
    uint64_t header_timeout_ns; /* from accepting to a complete PROXY header; 0: none is expected */
    struct server_listing *listing; /* of connections served; NULL: none */
    struct cpulist cpus;            /* CPUs of the workers */
    bool busy_poll;                 /* the workers never sleep */
    bool own_fd_tables;
    bool threads_are_fixed;   /* more threads, each with an fd table, would make more room */
    const char *thread_limit; /* the limit that allows too few threads for all fd tables; or NULL */
    struct memory_watch *memory; /* must approve each new connection */
    bool quiet;
    struct tls_context *tls;         /* NULL: plain TCP */
    struct server_overflow overflow; /* used by workers with their own fd tables ... */
    struct server_spare spare;       /* ... and this by workers that share one ... */
    unsigned n_kept_fds;             /* ... with this many more for the main thread */
    /* Connections of all workers, those that await their PROXY header included: server/active.h. */
    _Atomic uint64_t n_active;
    _Atomic uint64_t n_peak;        /* most of them at a time */
    _Atomic uint64_t n_subscribers; /* of all workers */
};

#endif
