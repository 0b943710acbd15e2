/* SPDX-License-Identifier: MIT
 * client_record: details of one connection, kept only for --connections-out and on demand, in an
 * array parallel to the connections.  If several connections follow one another in a slot, the row
 * has the sum of their counts; everything else is the last one's. */
#ifndef TCPSCALER_CLIENT_WORKER_RECORD_H
#define TCPSCALER_CLIENT_WORKER_RECORD_H

#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct client_record {
    struct srcplan_tuple source; /* from the socket; AF_UNSPEC until established */
    uint64_t connect_ns;         /* socket call to established; 0: not established */
    uint64_t established_ns;     /* CLOCK_MONOTONIC; 0: never */
    uint64_t handshake_ns;       /* established to the end of the TLS handshake; 0: no handshake */
    uint64_t due_ns;             /* when it was due to arrive; 0: not on a schedule */
    uint64_t answered_ns;        /* its first answer, if it was due; 0: none */
    uint64_t lost_ns;            /* the latest failure that counts as a recovery; 0: none */
    uint64_t back_ns;            /* when the slot was usable again; 0: never */
    uint64_t bytes_sent, bytes_received;
    uint64_t queries, answers; /* including proof and warm-up */
    uint32_t syn_retransmits, retransmits;
    uint32_t min_rtt_us;               /* struct sock_tcp; 0: unknown */
    uint8_t ended_phase, ended_reason; /* struct outcome */
    bool proven;
    bool resumed;         /* an abbreviated handshake */
    uint32_t connections; /* opened in this slot */
};

#define CLIENT_RECORD_HEADER                                                                       \
    "connection_id,source,source_port,connect_us,proven,queries,answers,bytes_sent,"               \
    "bytes_received,syn_retransmits,retransmits,min_rtt_us,ended,connections,"                     \
    "established_s,handshake_us,resumed,due_s,due_to_connected_us,due_to_secured_us,"              \
    "due_to_answered_us,identity,identity_port,lost_s,back_s,class\n"

/* Another connection is opened in the slot: its source and times are not those of the one before.
 */
static inline void client_record_begin(struct client_record *r)
{
    r->connections++;
    r->source = (struct srcplan_tuple){.address.family = AF_UNSPEC};
    r->connect_ns = r->established_ns = r->handshake_ns = r->answered_ns = 0;
    r->min_rtt_us = 0;
    r->resumed = r->proven = false;
}

/* What a row contains in addition to the record. */
struct client_record_about {
    uint64_t connection_id;
    uint64_t origin_ns;                   /* the columns in seconds are relative to it */
    const struct srcplan_tuple *identity; /* named by the PROXY header; NULL: there is none */
    const char *class_name;               /* of --class; NULL: there is none */
    bool udp;                             /* no TCP: no retransmits, no RTT */
};

/* Prints one row; fields that do not apply are empty. */
void client_record_print(FILE *out, const struct client_record *r,
                         const struct client_record_about *about);

#endif
