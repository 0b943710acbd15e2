/* SPDX-License-Identifier: MIT
 * memory_model: how much memory idle, proven connections take in the kernel, in tcpclient and in
 * tcpserver. memory_model.c has the constants with their measurements.  Pure. */
#ifndef TCPSCALER_HOST_MEMORY_MODEL_H
#define TCPSCALER_HOST_MEMORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* The account that is charged. */
enum memory_account {
    MEMORY_OF_MACHINE,
    MEMORY_OF_CGROUP_V1, /* the kernel does not charge sockets created by a listener */
    MEMORY_OF_CGROUP_V2, /* accept(2) charges them (since Linux 6.12) */
    MEMORY_OF_PROCESS    /* address space, RLIMIT_AS: also pages never touched; no kernel memory */
};

/* What one limit must have room for; 0 for an end on another host. */
struct memory_ends {
    uint64_t client_connections, server_connections;
    uint64_t client_threads, server_threads;
    bool tls;
    bool udp;            /* the client's connections are UDP sockets */
    bool counts_sources; /* the server limits connections per source */
    /* of the client, in address space only */
    uint64_t client_classes, client_rows_bytes, client_in_flight_bytes;
    uint64_t client_touched_rows_bytes; /* of client_rows_bytes, what becomes resident */
    bool closes_idle;                   /* the server has a timeout for each connection */
    uint64_t client_kept_bytes;         /* per connection, what the client keeps in addition */
};

/* Returns what these ends take from the account. */
uint64_t memory_model_bytes(const struct memory_ends *ends, enum memory_account account);

/* Resident memory of the programs themselves, without connections. */
uint64_t memory_model_program_bytes(const struct memory_ends *ends);

/* Cost of one more connection, for the ends that `ends` includes. */
uint64_t memory_model_connection_bytes(const struct memory_ends *ends, enum memory_account account);

#endif
