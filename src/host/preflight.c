/* SPDX-License-Identifier: MIT
 * preflight: see host/preflight.h. */
#include "host/preflight.h"

#include "base/units.h"
#include "host/preflight_memory.h"
#include "host/preflight_threads.h"
#include "host/preflight_tuples.h"
#include "host/process_limits.h"

#include <inttypes.h>
#include <stdio.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* A lookup walks half a chain of the hash table of established connections. */
#define LONG_HASH_CHAIN 4u

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* --- what both programs need --- */

/* How to raise the limit, which cannot exceed nr_open. */
static const char *ulimit_text(char text[PREFLIGHT_TEXT_BYTES], const struct host_limits *host,
                               uint64_t needed)
{
    if (host->nr_open != UNKNOWN && host->nr_open < needed)
        snprintf(text, PREFLIGHT_TEXT_BYTES,
                 "sysctl -w fs.nr_open=%" PRIu64 ", then ulimit -n %" PRIu64, needed, needed);
    else
        snprintf(text, PREFLIGHT_TEXT_BYTES, "ulimit -n %" PRIu64, needed);
    return text;
}

/* How many tables there can be, each with an equal share of the connections: the main thread's own
 * table has a descriptor for each of the others. */
static uint64_t most_tables(const struct host_limits *host, uint64_t reserved_fds)
{
    return host->nofile > reserved_fds ? host->nofile - reserved_fds : 0;
}

/* More threads, or fewer, help only as long as the connections fit into as many tables as there can
 * be; fewer connections, only if a table has room for one. */
static void say_too_few_fds(struct preflight_line *line, const struct host_limits *host,
                            uint64_t n_connections, uint32_t n_threads, uint64_t reserved_fds)
{
    const uint64_t most = most_tables(host, reserved_fds);
    const bool fits = most > 0 && n_connections <= most * most;
    char text[PREFLIGHT_TEXT_BYTES];

    ulimit_text(text, host, line->needed);
    if (n_threads <= most && fits)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "use --threads auto (each thread has its own table), or %s", text);
    else if (n_threads <= most || most == 0)
        preflight_line_fix(line, PREFLIGHT_STOP, "%s", text);
    else if (fits)
        preflight_line_fix(line, PREFLIGHT_STOP, "%s (%" PRIu32 " threads), or --threads %" PRIu64,
                           text, n_threads, most);
    else
        preflight_line_fix(line, PREFLIGHT_STOP, "%s (%" PRIu32 " %s), or fewer connections", text,
                           n_threads, units_noun(n_threads, "thread", "threads"));
}

static void check_fds(struct preflight *p, const struct host_limits *host, uint64_t n_connections,
                      uint32_t n_threads, bool own_fd_tables, uint64_t reserved_fds)
{
    const uint64_t n_tables = own_fd_tables ? n_threads : 1;
    const uint64_t each = ceil_div(n_connections, n_tables) + reserved_fds;
    const uint64_t of_main = own_fd_tables ? n_threads + reserved_fds : 0;
    const uint64_t needed = each > of_main ? each : of_main;
    struct preflight_line *line =
        preflight_line_add_short(p, "fd limit per table", host->nofile, needed);
    char text[PREFLIGHT_TEXT_BYTES];

    if (line != NULL && own_fd_tables)
        say_too_few_fds(line, host, n_connections, n_threads, reserved_fds);
    else if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP, "%s", ulimit_text(text, host, needed));
    line = preflight_line_add(p, "fd tables", n_tables, UNKNOWN);
    if (!own_fd_tables)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "this system does not allow per-thread fd tables: all threads share "
                           "one fd limit");
}

static void check_threads(struct preflight *p, const struct host_limits *host,
                          uint64_t n_connections, bool own_fd_tables, uint32_t n_threads,
                          uint32_t n_helpers)
{
    const struct preflight_threads ask = {
        .n_workers = n_threads,
        .n_helpers = n_helpers,
        .least_workers =
            own_fd_tables ? process_limits_workers_for(n_connections, host->nofile, 1) : 1,
    };

    preflight_threads_check(p, host, &ask);
}

/* Sockets of the whole host.  Beyond fs.file-max, other users can open no files. */
static void check_files(struct preflight *p, const struct host_limits *host, uint64_t n_sockets,
                        uint64_t n_tables, uint64_t reserved_fds)
{
    const uint64_t used = host->files_open != UNKNOWN ? host->files_open : 0;
    const uint64_t n_files = n_sockets + n_tables * reserved_fds;

    preflight_line_add_sysctl(p, "fs.file-max", host->file_max, used + n_files,
                              host->is_exempt_from_file_max ? PREFLIGHT_WARN : PREFLIGHT_STOP);
    preflight_line_add_sysctl(p, "fs.epoll.max_user_watches", host->epoll_watches, n_files,
                              PREFLIGHT_STOP);
}

/* An idle socket holds no buffer page; one that was just written or read holds one.  If less than a
 * page per four sockets is allowed, bursts make the kernel refuse memory. */
static void check_tcp_memory(struct preflight *p, const struct host_limits *host,
                             uint64_t n_sockets)
{
    struct preflight_line *line;

    if (n_sockets > 0 && host->tcp_pages_max != UNKNOWN && host->tcp_pages_used != UNKNOWN) {
        line = preflight_line_add_short(p, "net.ipv4.tcp_mem (pages)", host->tcp_pages_max,
                                        host->tcp_pages_used + n_sockets / 4);
        if (line != NULL)
            preflight_line_fix(line, PREFLIGHT_WARN,
                               "sysctl -w net.ipv4.tcp_mem='%" PRIu64 " %" PRIu64 " %" PRIu64 "'",
                               line->needed / 2, line->needed * 3 / 4, line->needed);
    }
}

/* The table has one entry per connection and end on this host. */
static void check_hash(struct preflight *p, const struct host_limits *host, uint64_t n_sockets)
{
    const uint64_t entries = host->tcp_hash_entries;
    struct preflight_line *line;

    if (entries == UNKNOWN || n_sockets == 0)
        return;
    line = preflight_line_add_short(p, "net.ipv4.tcp_ehash_entries", entries,
                                    n_sockets / LONG_HASH_CHAIN);
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "boot with thash_entries=%" PRIu64
                           ", or use a network namespace with a larger table (tcpscaler(7)): "
                           "chains of %.1f connections slow down every packet",
                           n_sockets, (double)n_sockets / (double)entries);
}

static void check_conntrack(struct preflight *p, const struct host_limits *host,
                            uint64_t n_connections, const char *role)
{
    struct preflight_line *line;

    if (host->conntrack_max == UNKNOWN || host->conntrack_used == UNKNOWN ||
        host->conntrack_max == 0)
        return;
    line = preflight_line_add_short(p, "net.netfilter.nf_conntrack_max", host->conntrack_max,
                                    host->conntrack_used + n_connections);
    if (line != NULL)
        preflight_line_fix(
            line, PREFLIGHT_WARN,
            "if connections are tracked here: sysctl -w net.netfilter.nf_conntrack_max=%" PRIu64
            "%s, or a notrack rule (tcpscaler-setup-%s --notrack --apply)",
            line->needed,
            host->conntrack_max_is_of_host ? " on the host, outside of this network namespace" : "",
            role);
}

/* With SYN cookies a SYN beyond the backlog is still answered.  Without them, the last quarter is
 * for peers that have connected before (Linux, tcp_conn_request()). */
static void check_syn_backlog(struct preflight *p, const struct host_limits *host,
                              uint64_t n_handshakes)
{
    const bool has_cookies = host->syn_cookies != 0;

    preflight_line_add_sysctl(p, "net.ipv4.tcp_max_syn_backlog", host->syn_backlog,
                              has_cookies ? n_handshakes : ceil_div(n_handshakes * 4, 3),
                              has_cookies ? PREFLIGHT_OK : PREFLIGHT_WARN);
}

/* A listener keeps the limit under which it was opened. */
static void check_accept_queue(struct preflight *p, const struct host_limits *host,
                               const struct preflight_client *ask)
{
    const uint64_t needed =
        ask->connect_window < ask->n_connections ? ask->connect_window : ask->n_connections;
    struct preflight_line *line =
        preflight_line_add_short(p, "net.core.somaxconn", host->somaxconn, needed);
    char window[64] = "";

    if (line != NULL && !ask->window_is_fixed)
        snprintf(window, sizeof window, ", or --connect-window %" PRIu64,
                 line->available > 0 ? line->available : 1);
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "sysctl -w net.core.somaxconn=%" PRIu64 " and restart the server%s",
                           needed, window);
    check_syn_backlog(p, host, needed);
}

/* --- the client --- */

static void check_closing(struct preflight *p, const struct host_limits *host,
                          const struct preflight_client *ask)
{
    struct preflight_line *line;

    preflight_line_add(p, "sockets in TIME_WAIT now", host->sockets_in_time_wait, UNKNOWN);
    if (!ask->closes_with_fin && !ask->listens)
        return;
    line = preflight_line_add_short(p, "net.ipv4.tcp_max_tw_buckets", host->time_wait_buckets,
                                    ask->n_connections);
    if (line != NULL && ask->listens)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "sysctl -w net.ipv4.tcp_max_tw_buckets=%" PRIu64
                           " (beyond the limit TIME_WAIT is cut short)",
                           ask->n_connections);
    else if (line != NULL)
        preflight_line_fix(
            line, PREFLIGHT_WARN,
            "use --close rst, which leaves no TIME_WAIT (beyond the limit TIME_WAIT is cut short)");
    if (ask->listens) /* no orphans: the server has closed before */
        return;
    line = preflight_line_add_short(p, "net.ipv4.tcp_max_orphans", host->orphans_max,
                                    ask->n_connections);
    if (line != NULL)
        preflight_line_fix(
            line, PREFLIGHT_WARN,
            "use --close rst, which leaves no orphans (beyond the limit they are reset)");
}

/* A server on this host is assumed to have as many threads and to be in the same cgroup. */
struct memory_ends preflight_client_ends(const struct preflight_client *ask)
{
    const bool has_server = ask->peer_is_here && !ask->udp;

    return (struct memory_ends){
        .client_connections = ask->n_connections,
        .client_threads = ask->n_threads,
        .server_connections = has_server ? ask->n_connections : 0,
        .server_threads = has_server ? ask->n_threads : 0,
        .tls = ask->tls,
        .udp = ask->udp,
        .client_classes = ask->n_classes,
        .client_rows_bytes = ask->rows_bytes,
        .client_touched_rows_bytes = ask->touched_rows_bytes,
        .client_kept_bytes = ask->kept_bytes,
        .client_in_flight_bytes = ask->in_flight_bytes,
    };
}

void preflight_client(struct preflight *p, const struct host_limits *host,
                      const struct preflight_client *ask)
{
    const uint64_t n_of_tcp = ask->udp ? 0 : ask->n_connections * (ask->peer_is_here ? 2 : 1);
    const struct memory_ends ends = preflight_client_ends(ask);
    struct memory_ends own = ends;

    own.server_connections = own.server_threads = 0;
    p->n_lines = 0;
    preflight_tuples_check(p, host, ask);
    check_fds(p, host, ask->n_connections, ask->n_threads, ask->own_fd_tables, ask->reserved_fds);
    check_files(p, host, ask->udp ? ask->n_connections : n_of_tcp,
                ask->own_fd_tables ? ask->n_threads : 1, ask->reserved_fds);
    check_threads(p, host, ask->n_connections, ask->own_fd_tables, ask->n_threads,
                  ask->n_helper_threads);
    preflight_memory_check(p, host, &ends, MEMORY_WATCH_OF_CLIENT);
    check_tcp_memory(p, host, n_of_tcp);
    preflight_memory_check_address_space(p, host, &own, ask->n_helper_threads);
    check_hash(p, host, n_of_tcp);
    check_conntrack(p, host, ask->n_connections, "client");
    if (ask->udp)
        return;
    check_closing(p, host, ask);
    if (ask->peer_is_here)
        check_accept_queue(p, host, ask);
}

/* --- the server --- */

static void check_syn_handling(struct preflight *p, const struct host_limits *host)
{
    struct preflight_line *line =
        preflight_line_add(p, "net.ipv4.tcp_syncookies", host->syn_cookies, UNKNOWN);

    if (line->available == 1)
        preflight_line_fix(line, PREFLIGHT_OK,
                           "1: SYNs beyond the backlog get cookies ('possible SYN flooding' in "
                           "dmesg); 0: they are dropped and the client retries after 1 s");
    line =
        preflight_line_add(p, "net.ipv4.tcp_abort_on_overflow", host->abort_on_overflow, UNKNOWN);
    if (line->available == 0)
        preflight_line_fix(
            line, PREFLIGHT_OK,
            "a full accept queue leaves clients established but unserved (half-open)");
    preflight_line_add(p, "net.ipv4.tcp_synack_retries", host->synack_retries, UNKNOWN);
}

void preflight_server(struct preflight *p, const struct host_limits *host,
                      const struct preflight_server *ask)
{
    const struct memory_ends ends = {.server_connections = ask->n_connections,
                                     .server_threads = ask->n_threads,
                                     .tls = ask->tls,
                                     .counts_sources = ask->counts_sources,
                                     .closes_idle = ask->closes_idle};
    struct preflight_line *line;

    p->n_lines = 0;
    check_fds(p, host, ask->n_connections, ask->n_threads, ask->own_fd_tables, ask->reserved_fds);
    check_files(p, host, ask->n_connections, ask->own_fd_tables ? ask->n_threads : 1,
                ask->reserved_fds);
    check_threads(p, host, ask->n_connections, ask->own_fd_tables, ask->n_threads, 0);
    preflight_memory_check(p, host, &ends, MEMORY_WATCH_OF_SERVER);
    check_tcp_memory(p, host, ask->n_connections);
    preflight_memory_check_address_space(p, host, &ends, 0);
    check_hash(p, host, ask->n_connections);
    check_conntrack(p, host, ask->n_connections, "server");
    line = preflight_line_add_short(p, "net.core.somaxconn", host->somaxconn, ask->backlog);
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "sysctl -w net.core.somaxconn=%" PRIu64 ", or --backlog %" PRIu64,
                           ask->backlog, host->somaxconn);
    check_syn_backlog(p, host, ask->backlog);
    check_syn_handling(p, host);
}
