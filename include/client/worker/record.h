/* SPDX-License-Identifier: MIT
 * client_record: what is known of one connection besides its life: kept only when a row per
 * connection is asked for (--connections-out), in an array beside the connections.  Where several
 * follow one another in a place, its row adds up their counts; the rest is the last one's. */
#ifndef TCPSCALER_CLIENT_WORKER_RECORD_H
#define TCPSCALER_CLIENT_WORKER_RECORD_H

#include "measure/outcome.h"
#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct client_record {
    struct srcplan_tuple source; /* as the socket has it; AF_UNSPEC until established */
    uint64_t connect_ns;         /* socket call to established; 0: never was */
    uint64_t established_ns;     /* CLOCK_MONOTONIC; 0: never was */
    uint64_t handshake_ns;       /* from then to the end of TLS's handshake; 0: there was none */
    uint64_t bytes_sent, bytes_received;
    uint32_t queries, answers;        /* probe and warm-up included */
    uint32_t retransmits, min_rtt_us; /* struct sock_tcp */
    uint32_t syn_retransmits;
    uint8_t ended_phase, ended_reason; /* struct outcome */
    bool proven;
    bool resumed;         /* an abbreviated handshake */
    uint32_t connections; /* begun in this place */
};

#define CLIENT_RECORD_HEADER                                                                       \
    "connection_id,source,source_port,connect_us,proven,queries,answers,bytes_sent,bytes_"         \
    "received,"                                                                                    \
    "syn_retransmits,retransmits,min_rtt_us,ended,connections,"                                    \
    "established_s,handshake_us,resumed\n"

/* One row; what does not apply is empty.  established_s counts from origin_ns. */
void client_record_print(FILE *out, const struct client_record *r, uint64_t connection_id,
                         uint64_t origin_ns);

#endif
