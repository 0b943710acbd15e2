/* SPDX-License-Identifier: MIT
 * client: one simulated client of tcpserver, and what all of them share.  Private to clients,
 * answers, ledger and progress. */
#ifndef TCPSCALER_SIM_SERVER_CLIENT_H
#define TCPSCALER_SIM_SERVER_CLIENT_H

#include "protocol/push_message.h"
#include "server/config.h"
#include "tcp.h"
#include "workload/srcplan.h"
#include "world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENT_HEADER_BYTES = 256 };

struct client {
    uint64_t tcp; /* name; 0: none */
    uint32_t address;
    /* what it does */
    uint64_t to_send;
    bool never_reads, half_closes, stays;
    uint64_t slow_ns;
    /* its PROXY header; header_bytes 0: none */
    uint8_t header[CLIENT_HEADER_BYTES];
    uint32_t header_bytes, header_sent, header_read;
    uint32_t wrong_at; /* of one wrong byte in it; UINT32_MAX: none */
    bool header_is_cut, is_local;
    struct srcplan_tuple identity; /* that it names */
    /* what it has done */
    uint64_t sent, n_read, reads_until_ns;
    bool is_blocked, has_finished, is_gone, has_vanished;
    /* what the server has done */
    bool was_accepted;
    bool is_open;      /* accepted and not closed ... */
    bool is_served;    /* ... and, with a PROXY header, that is complete */
    bool is_beginning; /* is being served from now on */
    uint64_t received; /* bytes that the server has read ... */
    uint64_t expected; /* ... to which it answers this many ... */
    uint64_t answered; /* ... of which it has sent these */
    uint32_t word;     /* the last four received */
    uint64_t accepted_ns, ready_ns;
    struct push_stream stream;
    uint64_t next_sequence, intended_ns;
};

struct clients {
    const struct server_config *config; /* of the workers */
    struct client *all;
    uint32_t n;
    bool expects_closing; /* connections may be closed without a reason of their own */
    bool had_faults;      /* of calls that accepting needs */
};

extern struct clients clients;

static inline bool clients_push(void)
{
    return clients.config->push_rate_per_s > 0;
}

static inline bool clients_use_tls(void)
{
    return clients.config->tls != NULL;
}

static inline struct client *client_of(const struct tcp *t)
{
    return &clients.all[t->peer.client];
}

static inline uint64_t client_way_ns(void)
{
    return (world.scenario.latency_us + world_up_to(world.scenario.jitter_us)) * 1000;
}

/* How much earlier than its time a timeout may come: by a tick of the coarse clock, and by the
 * length of the turn in which it was set. */
static inline uint64_t client_early_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 8000000 + 2000 * s->call_ns + 200 * s->preempt_permille * s->wakeup_us +
           3000 * s->halt_us;
}

/* The client of a descriptor of the running thread. */
struct client *clients_of_fd(int fd);

/* The server begins to serve it. */
void clients_begin_service(struct client *c);

/* The server has read data of connection i: its client may go on sending. */
void clients_has_read(uint32_t i);

#endif
