/* SPDX-License-Identifier: MIT
 * memory_model: how much memory connections take, idle and proven: in the kernel and in tcpclient
 * and tcpserver.  The constants stand in memory_model.c with their measurements.  Pure. */
#ifndef TCPSCALER_HOST_MEMORY_MODEL_H
#define TCPSCALER_HOST_MEMORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* What counts the memory. */
enum memory_account {
    MEMORY_OF_MACHINE,
    MEMORY_OF_CGROUP_V1, /* the kernel does not charge the sockets that a listener makes */
    MEMORY_OF_CGROUP_V2, /* accept(2) charges them (since Linux 6.12) */
    MEMORY_OF_PROCESS    /* address space, RLIMIT_AS: no kernel memory */
};

/* What one account has to hold; 0 of an end that is elsewhere. */
struct memory_ends {
    uint64_t client_connections, server_connections;
    uint64_t client_threads, server_threads;
    bool tls;
};

uint64_t memory_model_bytes(const struct memory_ends *ends, enum memory_account account);

/* Of one more connection: of its ends that `ends` has any of. */
uint64_t memory_model_connection_bytes(const struct memory_ends *ends, enum memory_account account);

#endif
