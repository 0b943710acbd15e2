/* SPDX-License-Identifier: MIT
 * memory_model: see host/memory_model.h. */
#include "host/memory_model.h"

/* Measured on Linux 6.18 (x86-64), both ends on one machine, connections proven and idle: MemFree
 * fell by 838 MB for 100,000 of them.  Slab takes 8.06 kB of it, on each side a socket 2,521, its
 * inode 862, file 195, dentry 195, epoll item 128 and wait queue entry 64, for a bound port 128;
 * at most 0.23 kB are page tables, descriptor tables and partly empty slabs.  A cgroup is charged
 * for objects, not for the unused part of their slabs.  The programs' part is the growth of their
 * resident memory from 100,000 to 300,000 connections. */
enum end { CLIENT, SERVER };

static const uint64_t kernel_bytes[][2] = {
    [MEMORY_OF_MACHINE] = {4208, 4080},
    [MEMORY_OF_CGROUP_V1] = {4080, 1488},
    [MEMORY_OF_CGROUP_V2] = {4080, 3992},
    [MEMORY_OF_PROCESS] = {0, 0},
};

/* The same for a UDP socket: slab grew by 2,765 bytes for each of 30,000. */
static const uint64_t udp_kernel_bytes[] = {
    [MEMORY_OF_MACHINE] = 2900,
    [MEMORY_OF_CGROUP_V1] = 2765,
    [MEMORY_OF_CGROUP_V2] = 2765,
    [MEMORY_OF_PROCESS] = 0,
};
static const uint64_t user_bytes[2] = {95, 75};

/* Resident, from runs of 1,000 connections with 1 and with 50 threads; and a thread's kernel stack,
 * descriptor table and page tables. */
static const uint64_t thread_user_bytes[2] = {380000, 31000};
static const uint64_t thread_kernel_bytes = 40000;
static const uint64_t program_bytes = 1500000;

/* Address space that is mapped after the limit was read: VmSize under ulimit -v, with 1 to 50
 * threads, without stacks and connections.  With room for churn, --keepalive, TLS and a search; the
 * last was not measured. */
static const uint64_t thread_mapped_bytes[2] = {11600000, 170000};
static const uint64_t program_mapped_bytes[2] = {13000000, 3500000};

/* A class: four histograms in each thread, and in the main thread. */
static const uint64_t class_mapped_bytes = 1110000;

/* OpenSSL 3.0, TLS 1.3, idle: 16.2 kB in tcpclient when resumed, 20 kB when not, 15.2 kB in
 * tcpserver (tests/e2e/memory.py). */
static const uint64_t tls_bytes[2] = {20000, 15200};

/* A struct event, with what malloc(3) adds: net/poller.h. */
static const uint64_t timeout_bytes = 144;

/* An entry and its buckets, at most: server/source_limit.h. */
static const uint64_t source_bytes = 24;

static uint64_t connection_bytes(enum end end, enum memory_account account,
                                 const struct memory_ends *ends)
{
    return (ends->udp ? udp_kernel_bytes[account] : kernel_bytes[account][end]) + user_bytes[end] +
           (ends->tls ? tls_bytes[end] : 0) + (end == CLIENT ? ends->client_kept_bytes : 0) +
           (end == SERVER && ends->counts_sources ? source_bytes : 0) +
           (end == SERVER && ends->closes_idle ? timeout_bytes : 0);
}

static uint64_t client_mapped_bytes(const struct memory_ends *ends)
{
    return (ends->client_threads + 1) * ends->client_classes * class_mapped_bytes +
           ends->client_rows_bytes + ends->client_in_flight_bytes;
}

static uint64_t mapped_bytes(enum end end, uint64_t n_threads, const struct memory_ends *ends)
{
    return n_threads * thread_mapped_bytes[end] + program_mapped_bytes[end] +
           (end == CLIENT ? client_mapped_bytes(ends) : 0);
}

static uint64_t resident_bytes(enum end end, uint64_t n_threads, const struct memory_ends *ends)
{
    return n_threads * thread_user_bytes[end] + program_bytes +
           (end == CLIENT ? ends->client_touched_rows_bytes : 0);
}

static uint64_t end_bytes(enum end end, enum memory_account account, uint64_t n, uint64_t n_threads,
                          const struct memory_ends *ends)
{
    if (n == 0)
        return 0;
    return n * connection_bytes(end, account, ends) +
           (account == MEMORY_OF_PROCESS
                ? mapped_bytes(end, n_threads, ends)
                : resident_bytes(end, n_threads, ends) + n_threads * thread_kernel_bytes);
}

uint64_t memory_model_bytes(const struct memory_ends *ends, enum memory_account account)
{
    return end_bytes(CLIENT, account, ends->client_connections, ends->client_threads, ends) +
           end_bytes(SERVER, account, ends->server_connections, ends->server_threads, ends);
}

uint64_t memory_model_program_bytes(const struct memory_ends *ends)
{
    return (ends->client_threads > 0 ? resident_bytes(CLIENT, ends->client_threads, ends) : 0) +
           (ends->server_threads > 0 ? resident_bytes(SERVER, ends->server_threads, ends) : 0);
}

uint64_t memory_model_connection_bytes(const struct memory_ends *ends, enum memory_account account)
{
    return (ends->client_connections > 0 ? connection_bytes(CLIENT, account, ends) : 0) +
           (ends->server_connections > 0 ? connection_bytes(SERVER, account, ends) : 0);
}
