/* SPDX-License-Identifier: MIT
 * client_config: the configuration of tcpclient's workers.  Constant while they run. */
#ifndef TCPSCALER_CLIENT_WORKER_CONFIG_H
#define TCPSCALER_CLIENT_WORKER_CONFIG_H

#include "base/cpulist.h"
#include "client/worker/class.h"
#include "host/memory_model.h"
#include "net/sock.h"
#include "net/tls_context.h"
#include "protocol/proxy_header.h"
#include "protocol/query.h"
#include "workload/backoff.h"
#include "workload/pacer.h"
#include "workload/schedule.h"
#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of the options' choices. */
enum client_selection { CLIENT_SELECT_RANDOM, CLIENT_SELECT_ROUND_ROBIN };
enum client_loop { CLIENT_LOOP_OPEN, CLIENT_LOOP_CLOSED };
enum client_carrier { CLIENT_TCP, CLIENT_UDP };
enum client_connect_arrival {
    CLIENT_CONNECT_WINDOW,
    CLIENT_CONNECT_POISSON = 1 + PACER_POISSON,
    CLIENT_CONNECT_CONSTANT = 1 + PACER_CONSTANT
};
enum client_on_timeout { CLIENT_TIMEOUT_KEEP, CLIENT_TIMEOUT_CLOSE };
enum client_close { CLIENT_CLOSE_FIN, CLIENT_CLOSE_RST };
enum client_pace { CLIENT_PACE_AUTO, CLIENT_PACE_SLEEP, CLIENT_PACE_HYBRID, CLIENT_PACE_SPIN };

#define CLIENT_ARRIVALS         "poisson|constant" /* enum pacer_arrival */
#define CLIENT_SELECTS          "random|round-robin"
#define CLIENT_LOOPS            "open|closed"
#define CLIENT_CARRIERS         "tcp|udp"
#define CLIENT_CONNECT_ARRIVALS "window|" CLIENT_ARRIVALS
#define CLIENT_ON_TIMEOUTS      "keep|close"
#define CLIENT_CLOSES           "fin|rst"
#define CLIENT_PROXIES          "none|v1|v2" /* enum proxy_header_version */
#define CLIENT_KERNEL_TSS       "auto|yes|no"
#define CLIENT_PACES            "auto|sleep|hybrid|spin"

enum client_kernel_ts { CLIENT_KERNEL_TS_AUTO, CLIENT_KERNEL_TS_YES, CLIENT_KERNEL_TS_NO };

struct client_targets;
struct memory_watch;
struct rows;

struct client_config {
    /* connections */
    struct sock_address target;
    bool target_is_here; /* an address of this host (host/netdev.h) */
    struct srcplan plan;
    _Atomic uint64_t *spare_tuple; /* next free tuple of the plan after n_connections */
    /* With automatic ports: the same ports as planned tuples of the route's address, used when the
     * kernel finds no free port (client/sources.h).  Has no ports if it is not needed. */
    struct srcplan fallback;
    _Atomic uint64_t *fallback_tuples;  /* its next one for each destination, CLIENT_CLASS_MOST */
    bool may_meet_itself;               /* a connection's source can equal the target address */
    struct sock_connect_options socket; /* datagrams: UDP, each connection is a connected socket */
    bool knows_drops; /* the kernel says how many datagrams it drops at these sockets */
    enum proxy_header_version proxy; /* of the header that begins each connection */
    struct srcplan identities;       /* clients that these headers name (client/worker/proxy.h) */
    uint32_t n_connections;          /* maximum */
    /* Initial number; less than n_connections if requests may add connections. */
    uint32_t n_at_begin;
    struct client_targets *targets; /* targets that can change during the run; NULL: none */
    bool closes_newest;             /* when fewer are requested (client/worker/pool.h) */
    /* Connections over time, during the measurement; n 0: all of them. */
    struct schedule population;
    uint32_t n_workers;
    double connect_rate_per_s; /* 0: limited by the window only */
    int connect_arrival;       /* enum client_connect_arrival; not WINDOW: with a rate */
    /* Limit on connections being opened or proven, all workers together; at least 1 per worker. */
    uint32_t connect_window;
    uint64_t connect_timeout_ns;
    bool prove;          /* send one query on each connection as soon as it is established */
    int close;           /* enum client_close */
    bool conn_per_query; /* each query opens a connection when it is due, and closes it */
    /* Close and replace a connection after this many queries; 0: never.  With classes, which have
     * limits of their own: the run's queries per connection replaced. */
    uint32_t queries_per_conn;
    bool reconnect;         /* replace connections that fail */
    bool on_demand;         /* open a connection when a query is due and none is open */
    uint64_t idle_close_ns; /* on demand: close a connection after idling this long; 0: never */
    bool keepalive;         /* on demand: or as the answers' edns-tcp-keepalive says */
    struct backoff backoff; /* delay before reconnecting */
    bool quickack;
    bool own_fd_tables;
    struct memory_ends memory_ends; /* which ends of a connection use this host's memory */
    struct memory_watch *memory;    /* must approve each new connection */
    struct cpulist cpus;            /* CPUs of the workers */
    struct tls_context *tls;        /* NULL: plain TCP; with classes, of those with TLS */

    /* load */
    bool listens; /* no queries: measure the messages that the server pushes */
    struct query query;
    /* With --sweep size: its queries, the first equal to query; else NULL. */
    const struct query *sizes;
    uint32_t n_sizes;
    const struct client_class *classes; /* n_classes, of all connections; NULL: none */
    uint32_t n_classes;
    const struct query *class_queries; /* of each class, of the protocol of `query`; NULL: none */
    int arrival;                       /* enum pacer_arrival */
    /* Warm-up and measurement; rate 0: no queries, connections stay idle. */
    struct schedule schedule;
    int select;           /* enum client_selection */
    int loop;             /* enum client_loop */
    uint64_t interval_ns; /* closed loop: from an answer to the connection's next query */
    uint64_t seed;
    int pace; /* enum client_pace, never AUTO */
    /* Fraction of a CPU that a worker may spend busy-waiting (workload/wakeup.h). */
    double waiting_share;

    /* time */
    uint64_t warmup_ns;   /* queries due during warm-up are sent but not measured */
    uint64_t duration_ns; /* of the measurement; PACER_NEVER: until stopped */
    uint64_t drain_ns;    /* maximum time to wait for answers afterwards */
    uint64_t timeout_ns;  /* from sending a query until it is given up */
    int on_timeout;       /* enum client_on_timeout */

    /* output */
    struct rows *rows; /* rows (-R, -o), or NULL */
    /* Keep a record of each connection: for --connections-out, and to count what connections on
     * demand carry. */
    bool record_connections;
    bool quiet;  /* no warnings */
    int wake_fd; /* eventfd, written when a worker enters a stage */
};

/* From the first query to the end of the measurement. */
static inline uint64_t client_config_load_ns(const struct client_config *c)
{
    return c->duration_ns == PACER_NEVER ? PACER_NEVER : c->warmup_ns + c->duration_ns;
}

/* Whether queries are due at a rate.  A closed loop has none, and listeners do not send any. */
static inline bool client_config_has_rate(const struct client_config *c)
{
    return c->loop == CLIENT_LOOP_OPEN && !c->listens;
}

/* Whether every connection uses TLS. */
static inline bool client_config_is_all_tls(const struct client_config *c)
{
    bool all = c->tls != NULL;

    for (uint32_t k = 0; k < c->n_classes; k++)
        all &= c->classes[k].tls;
    return all;
}

/* How connections arrive with this client_connect_arrival: with a window, at even distances. */
static inline enum pacer_arrival client_config_pacing_of(int connect_arrival)
{
    return connect_arrival == CLIENT_CONNECT_WINDOW
               ? PACER_CONSTANT
               : (enum pacer_arrival)(connect_arrival - CLIENT_CONNECT_POISSON + PACER_POISSON);
}

/* Whether connections may begin later than those that the run begins with. */
static inline bool client_config_keeps_opening(const struct client_config *c)
{
    return c->reconnect || c->population.n > 0 || c->on_demand;
}

/* Whether connections beyond the first window are opened before one is usable. */
static inline bool client_config_opens_all(const struct client_config *c)
{
    return client_config_keeps_opening(c) || c->connect_arrival != CLIENT_CONNECT_WINDOW;
}

/* Whether the connect rate may hold back a connection that queries wait for. */
static inline bool client_config_holds_connects(const struct client_config *c)
{
    return c->on_demand && c->connect_rate_per_s > 0;
}

#endif
