/* SPDX-License-Identifier: MIT
 * client_config: what the workers of tcpclient are to do; constant once they run. */
#ifndef TCPSCALER_CLIENT_WORKER_CONFIG_H
#define TCPSCALER_CLIENT_WORKER_CONFIG_H

#include "base/cpulist.h"
#include "host/memory_model.h"
#include "measure/rows.h"
#include "net/sock.h"
#include "net/tls_context.h"
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
enum client_on_timeout { CLIENT_TIMEOUT_KEEP, CLIENT_TIMEOUT_CLOSE };
enum client_close { CLIENT_CLOSE_FIN, CLIENT_CLOSE_RST };
enum client_pace { CLIENT_PACE_AUTO, CLIENT_PACE_SLEEP, CLIENT_PACE_HYBRID, CLIENT_PACE_SPIN };

#define CLIENT_SELECTS     "random|round-robin"
#define CLIENT_LOOPS       "open|closed"
#define CLIENT_ON_TIMEOUTS "keep|close"
#define CLIENT_CLOSES      "fin|rst"
#define CLIENT_KERNEL_TSS  "auto|yes|no"
#define CLIENT_PACES       "auto|sleep|hybrid|spin"

enum client_kernel_ts { CLIENT_KERNEL_TS_AUTO, CLIENT_KERNEL_TS_YES, CLIENT_KERNEL_TS_NO };

struct client_targets;
struct memory_watch;

struct client_config {
    /* connections */
    struct sock_address target;
    struct srcplan plan;
    _Atomic uint64_t *spare_tuple; /* the next one of the plan beyond n_connections */
    /* Automatic ports: the same ones as explicit tuples of the route's address, for when the kernel
     * finds none (client/sources.h).  Without ports: there are none. */
    struct srcplan fallback;
    _Atomic uint64_t *fallback_tuple; /* its next one */
    bool may_meet_itself;             /* the target's address can be a connection's source, too */
    struct sock_connect_options socket;
    uint32_t n_connections;         /* at the most */
    uint32_t n_at_begin;            /* of them, to begin with; fewer where requests may add more */
    struct client_targets *targets; /* what may change meanwhile; NULL: nothing */
    struct schedule population;     /* how many of them through the measurement; n 0: all */
    uint32_t n_workers;
    double connect_rate_per_s; /* 0: as fast as the window allows */
    uint32_t
        connect_window; /* connecting or not yet proven at a time, all workers; 1 each at least */
    uint64_t connect_timeout_ns;
    bool prove;                /* each connection sends one query as soon as it is established */
    int close;                 /* enum client_close */
    uint32_t queries_per_conn; /* then it is closed and replaced; 0: never */
    bool reconnect;            /* another one takes the place of a connection that failed */
    struct backoff backoff;    /* before it does */
    bool quickack;
    bool own_fd_tables;
    struct memory_ends memory_ends; /* whose memory a connection takes here */
    struct memory_watch *memory;    /* lets connections be begun */
    struct cpulist cpus;            /* of the workers */
    struct tls_context *tls;        /* NULL: plain TCP */

    /* load */
    bool listens; /* no queries: what the server pushes is measured */
    struct query query;
    int arrival;              /* enum pacer_arrival */
    struct schedule schedule; /* warm-up and measurement; rate 0: no queries, just hold */
    int select;               /* enum client_selection */
    int loop;                 /* enum client_loop */
    uint64_t interval_ns;     /* closed loop: from an answer to the connection's next query */
    uint64_t seed;
    int pace; /* enum client_pace, never AUTO */
    double
        waiting_share; /* of a CPU that a worker may spend on waiting awake (workload/wakeup.h) */

    /* time */
    uint64_t warmup_ns;   /* queries that become due in it are sent, and left out of the figures */
    uint64_t duration_ns; /* of the measurement after it; PACER_NEVER: until stopped */
    uint64_t drain_ns;    /* at most so long answers are awaited after it */
    uint64_t timeout_ns;  /* from sending a query; then it is given up */
    int on_timeout;       /* enum client_on_timeout */

    /* output */
    struct rows *rows;       /* raw rows, or NULL */
    bool record_connections; /* keep a record of each, for a row per connection */
    bool quiet;              /* no warnings */
    int wake_fd;             /* eventfd: written whenever a worker reaches its next stage */
};

/* From the first query to the end of the measurement. */
static inline uint64_t client_config_load_ns(const struct client_config *c)
{
    return c->duration_ns == PACER_NEVER ? PACER_NEVER : c->warmup_ns + c->duration_ns;
}

/* Whether connections may begin later than those that the run begins with. */
static inline bool client_config_keeps_opening(const struct client_config *c)
{
    return c->reconnect || c->population.n > 0;
}

#endif
