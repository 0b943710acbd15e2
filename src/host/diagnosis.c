/* SPDX-License-Identifier: MIT
 * diagnosis: see host/diagnosis.h. */
#include "host/diagnosis.h"

#include "base/units.h"
#include "host/diagnosis_route.h"
#include "host/diagnosis_server.h"
#include "host/diagnosis_silence.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* A limit counts as reached at this percentage. */
#define FULL_PERCENT 97u

static bool is_full(uint64_t used, uint64_t limit)
{
    return used != UNKNOWN && limit != UNKNOWN &&
           used >= limit - limit / 100 * (100 - FULL_PERCENT);
}

static void judge_ports(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_PORTS);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, "source ports", n);
    if (in->churns) {
        diagnosis_line_say(line->evidence,
                           "source tuples: %s; sockets in TIME_WAIT towards the server: %s; "
                           "%.1f connections/s achieved",
                           units_format_known(a, in->n_tuples),
                           units_format_known(b, in->in_time_wait), in->churn_per_s);
        diagnosis_line_say(
            line->remedy,
            "use --close rst, which leaves no TIME_WAIT, or add tuples with --source or --sport");
        return;
    }
    if (in->tuples_in_use >= n) {
        diagnosis_line_say(
            line->evidence, "%s of %s source tuples were in use by other sockets before the run",
            units_format_known(a, in->tuples_in_use), units_format_known(b, in->n_tuples));
        diagnosis_line_say(line->remedy, "%s", outcome_remedy(REASON_PORTS));
        return;
    }
    if (in->tuples_in_time_wait != UNKNOWN && in->tuples_in_time_wait >= n) {
        diagnosis_line_say(
            line->evidence, "%s of %s source tuples are in TIME_WAIT towards the server",
            units_format_known(a, in->tuples_in_time_wait), units_format_known(b, in->n_tuples));
        diagnosis_line_say(line->remedy,
                           in->host->tcp_timestamps == 0
                               ? "wait 60 s, or add tuples with --source or --sport; "
                                 "with net.ipv4.tcp_timestamps=1, TCP can reuse those "
                                 "of later runs at once"
                           : in->listens ? "wait 60 s, or add tuples with --source or --sport"
                                         : "wait 60 s, add tuples with --source or --sport, or "
                                           "use --close rst, which leaves no TIME_WAIT");
        return;
    }
    diagnosis_line_say(line->evidence, "source tuples: %s; sockets in TIME_WAIT on this host: %s",
                       units_format_known(a, in->n_tuples),
                       units_format_known(b, in->host->sockets_in_time_wait));
    diagnosis_line_say(line->remedy, "%s", outcome_remedy(REASON_PORTS));
}

/* --threads auto already starts a thread, with its own table, whenever the limit requires it. */
static const char *fds_remedy(const struct diagnosis_input *in)
{
    if (!in->own_fd_tables)
        return "raise the hard limit (ulimit -Hn): all threads share one table";
    return in->threads_are_auto
               ? "raise the hard limit (ulimit -Hn): --threads auto cannot add more threads"
               : "use --threads auto, which adds a table per thread, or raise the hard limit "
                 "(ulimit -Hn)";
}

static void judge_fds(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_FDS);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0)
        return;
    if (is_full(in->host->files_open, in->host->file_max) && !in->host->is_exempt_from_file_max) {
        line = diagnosis_line_add(d, "fs.file-max", n);
        diagnosis_line_say(line->evidence, "%s of %s files open",
                           units_format_count(a, in->host->files_open),
                           units_format_count(b, in->host->file_max));
        diagnosis_line_say(line->remedy, "sysctl -w fs.file-max=%" PRIu64,
                           in->host->file_max + 2 * n);
    } else {
        line = diagnosis_line_add(d, "fd limit", n);
        diagnosis_line_say(line->evidence, "fds per table: %s; %s",
                           units_format_known(a, in->host->nofile),
                           in->own_fd_tables ? "each thread has its own" : "all threads share one");
        diagnosis_line_say(line->remedy, "%s", fds_remedy(in));
    }
}

static void judge_watches(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_WATCHES), most = in->host->epoll_watches;
    char text[UNITS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, "fs.epoll.max_user_watches", n);
    if (most == UNKNOWN) {
        diagnosis_line_say(line->evidence, "the limit is unknown here");
        diagnosis_line_say(line->remedy, "%s", outcome_remedy(REASON_WATCHES));
        return;
    }
    diagnosis_line_say(line->evidence, "epoll watches of all processes of this user: at most %s",
                       units_format_count(text, most));
    diagnosis_line_say(line->remedy, "sysctl -w fs.epoll.max_user_watches=%" PRIu64, most + 2 * n);
}

static bool tcp_memory_is_full(const struct diagnosis_input *in)
{
    return is_full(in->host->tcp_pages_used, in->host->tcp_pages_max);
}

static void blame_tcp_memory(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "net.ipv4.tcp_mem", n);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    diagnosis_line_say(line->evidence, "TCP uses %s of %s pages ('mem' in /proc/net/sockstat)",
                       units_format_count(a, in->host->tcp_pages_used),
                       units_format_count(b, in->host->tcp_pages_max));
    diagnosis_line_say(
        line->remedy,
        "raise the third value of net.ipv4.tcp_mem, or use smaller --sndbuf and --rcvbuf");
}

static const char *available_memory(char *text, const struct diagnosis_input *in)
{
    return in->host->memory_available_bytes == UNKNOWN
               ? "unknown"
               : units_format_bytes(text, in->host->memory_available_bytes);
}

static void blame_address_space(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    char left[UNITS_TEXT_BYTES], available[UNITS_TEXT_BYTES];
    const bool is_data = in->host->data_is_limit;
    struct diagnosis_line *line =
        is_data ? diagnosis_line_add(d, "ulimit -d", n) : diagnosis_line_add(d, "ulimit -v", n);

    diagnosis_line_say(line->evidence, "the client had %s of %s left (%s); memory available: %s",
                       units_format_bytes(left, in->host->address_space_bytes),
                       is_data ? "private memory" : "address space",
                       is_data ? "RLIMIT_DATA" : "RLIMIT_AS", available_memory(available, in));
    diagnosis_line_say(line->remedy, "%s unlimited, or as many KiB as the client needs",
                       is_data ? "ulimit -d" : "ulimit -v");
}

/* tcp_mem is unknown in a network namespace, although the host's applies. */
static void blame_memory(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    char available[UNITS_TEXT_BYTES], used[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
    const bool is_known = in->host->tcp_pages_max != UNKNOWN;
    struct diagnosis_line *line = diagnosis_line_add(d, "memory", n);

    units_format_known(used, in->host->tcp_pages_used);
    if (is_known)
        diagnosis_line_say(line->evidence,
                           "memory available: %s; pages used by TCP: %s, at most %s (tcp_mem)",
                           available_memory(available, in), used,
                           units_format_count(most, in->host->tcp_pages_max));
    else
        diagnosis_line_say(line->evidence, "memory available: %s; pages used by TCP: %s",
                           available_memory(available, in), used);
    diagnosis_line_say(line->remedy, "%s",
                       is_known ? "add memory: net.ipv4.tcp_mem is not reached"
                                : "add memory, or raise net.ipv4.tcp_mem on the host: it is not "
                                  "visible in this namespace");
}

/* The client stopped opening connections before the kernel would have killed a process. */
static void blame_shortage(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "memory", n);

    diagnosis_line_say(line->evidence, "%s", in->shortage);
    diagnosis_line_say(line->remedy, "use fewer connections, add memory or raise the cgroup's "
                                     "limit: --plan shows what is needed");
}

/* Without memory for its buffers the kernel refuses connections, or silently lets new ones stall.
 */
static void judge_memory(struct diagnosis *d, const struct diagnosis_input *in)
{
    const bool full = tcp_memory_is_full(in);
    const uint64_t n =
        diagnosis_line_count(in, REASON_MEMORY) + (full ? diagnosis_line_count_stalled(in) : 0);

    if (n == 0)
        return;
    if (in->shortage != NULL)
        blame_shortage(d, in, n);
    else if (full)
        blame_tcp_memory(d, in, n);
    else if (in->host->address_space_bytes < in->host->memory_available_bytes)
        blame_address_space(d, in, n);
    else
        blame_memory(d, in, n);
}

/* If the run was interrupted before any connect had ended, those that sent another SYN. */
static uint64_t count_unanswered_connects(const struct diagnosis_input *in)
{
    const struct tally *t = in->tally;
    const uint64_t n_syns = tally_get(&t->connections.syn_retransmits);
    const uint64_t n_cancelled = diagnosis_line_count(in, REASON_CANCELLED);

    if (n_cancelled == 0 || n_cancelled < tally_connections_ended(t) ||
        tally_get(&t->connections.connected) > 0)
        return diagnosis_line_count_stalled(in);
    return n_cancelled < n_syns ? n_cancelled : n_syns;
}

/* With a --connect-timeout below 1 s, none is retransmitted. */
static void say_how_many_syns(char *text, const struct diagnosis_input *in, uint64_t n_stalled)
{
    const uint64_t n = tally_get(&in->tally->connections.syn_retransmits);
    char count[UNITS_TEXT_BYTES];

    if (n == 0)
        diagnosis_line_say(text, "%s %s without an answer within --connect-timeout",
                           units_format_count(count, n_stalled),
                           units_noun(n_stalled, "SYN", "SYNs"));
    else
        diagnosis_line_say(text, "%s %s retransmitted, %s without an answer",
                           units_format_count(count, n), units_noun(n, "SYN", "SYNs"),
                           units_noun(n, "also", "the last ones"));
}

static void judge_stalled(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count_unanswered_connects(in);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], syns[DIAGNOSIS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0 || tcp_memory_is_full(in))
        return;
    if (in->host->conntrack_max > 0 && is_full(in->host->conntrack_used, in->host->conntrack_max)) {
        line = diagnosis_line_add(d, "net.netfilter.nf_conntrack_max", n);
        diagnosis_line_say(line->evidence, "%s of %s connections tracked",
                           units_format_count(a, in->host->conntrack_used),
                           units_format_count(b, in->host->conntrack_max));
        diagnosis_line_say(
            line->remedy,
            "raise it%s, or add a notrack rule (tcpscaler-setup-client --notrack --apply)",
            in->host->conntrack_max_is_of_host ? " on the host, outside of this network namespace"
                                               : "");
        return;
    }
    say_how_many_syns(syns, in, n);
    /* every connection drops SYNs of its own: fewer overflows than connections have another cause
     */
    if (in->listen_overflows != UNKNOWN && in->listen_overflows >= n) {
        line = diagnosis_line_add(d, "the server's accept queue", n);
        diagnosis_line_say(line->evidence, "%s; %s accept queue %s on this host", syns,
                           units_format_count(b, in->listen_overflows),
                           units_noun(in->listen_overflows, "overflow", "overflows"));
        diagnosis_line_say(line->remedy, "raise the server's backlog and net.core.somaxconn, or "
                                         "make it accept faster: 'ss -ltn' shows the queue");
        return;
    }
    line = diagnosis_line_add(d, "the path to the server", n);
    diagnosis_line_say(line->evidence, "%s", syns);
    diagnosis_line_say(line->remedy,
                       "check for a firewall and, on the server, its accept queue (ss -ltn), SYN "
                       "backlog (net.ipv4.tcp_max_syn_backlog) and 'table full' in dmesg");
}

static int by_connections(const void *a, const void *b)
{
    const struct diagnosis_line *x = a, *y = b;

    return (x->connections < y->connections) - (x->connections > y->connections);
}

/* Each adds at most one line, diagnosis_server_ended() two. */
static void (*const judges[])(struct diagnosis *, const struct diagnosis_input *) = {
    judge_ports,
    judge_fds,
    judge_watches,
    judge_memory,
    judge_stalled,
    diagnosis_route_sources,
    diagnosis_route_missing,
    diagnosis_route_unreachable,
    diagnosis_route_forbidden,
    diagnosis_silence_unanswered,
    diagnosis_silence_handshakes,
    diagnosis_silence_half_open,
    diagnosis_server_refused,
    diagnosis_server_ended,
    diagnosis_silence_unresponsive,
    diagnosis_silence_given_up,
};

enum { N_JUDGES = sizeof judges / sizeof *judges };

_Static_assert(N_JUDGES + 1 <= DIAGNOSIS_LINES, "room for the lines of all");

void diagnosis_make(struct diagnosis *d, const struct diagnosis_input *in)
{
    d->n_lines = 0;
    for (int i = 0; i < N_JUDGES; i++)
        judges[i](d, in);
    qsort(d->lines, d->n_lines, sizeof *d->lines, by_connections);
}
