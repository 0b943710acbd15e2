/* SPDX-License-Identifier: MIT
 * diagnosis: see host/diagnosis.h. */
#include "host/diagnosis.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* Used up: within so much of the limit. */
#define FULL_PERCENT 97u

static uint64_t count(const struct diagnosis_input *in, enum outcome_reason reason)
{
    return tally_connections_by_reason(in->tally, reason);
}

static bool is_full(uint64_t used, uint64_t limit)
{
    return used != UNKNOWN && limit != UNKNOWN &&
           used >= limit - limit / 100 * (100 - FULL_PERCENT);
}

static struct diagnosis_line *add(struct diagnosis *d, const char *limit, uint64_t connections)
{
    struct diagnosis_line *line = &d->lines[d->n_lines++];

    assert(d->n_lines <= DIAGNOSIS_LINES);
    *line = (struct diagnosis_line){.limit = limit, .connections = connections};
    return line;
}

__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, DIAGNOSIS_TEXT_BYTES, format, args);
    va_end(args);
}

static void judge_ports(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count(in, REASON_PORTS);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = add(d, "source ports", n);
    if (in->churns) {
        say(line->evidence,
            "source ports exhausted: %s in TIME_WAIT of %s; %.1f connections/s came about",
            units_format_known(a, in->in_time_wait), units_format_known(b, in->n_tuples),
            in->churn_per_s);
        say(line->remedy, "--close rst leaves no TIME_WAIT; or more tuples: --source, --sport");
        return;
    }
    if (in->tuples_in_time_wait != UNKNOWN && in->tuples_in_time_wait >= n) {
        say(line->evidence, "%s of %s source tuples are in TIME_WAIT towards the server",
            units_format_known(a, in->tuples_in_time_wait), units_format_known(b, in->n_tuples));
        say(line->remedy, in->host->tcp_timestamps == 0
                              ? "wait 60 s, or sysctl -w net.ipv4.tcp_timestamps=1: with time "
                                "stamps TCP reuses such tuples at once"
                              : "wait 60 s, or more tuples: --source, --sport; --close rst leaves "
                                "no TIME_WAIT");
        return;
    }
    say(line->evidence, "source tuples: %s; sockets in TIME_WAIT on this host: %s",
        units_format_known(a, in->n_tuples), units_format_known(b, in->host->sockets_in_time_wait));
    say(line->remedy, "%s", outcome_remedy(REASON_PORTS));
}

/* With --threads auto there is a thread, and its table, for each that the limit asks for. */
static const char *fds_remedy(const struct diagnosis_input *in)
{
    if (!in->own_fd_tables)
        return "raise the hard limit (ulimit -Hn): all threads share one table";
    return in->threads_are_auto
               ? "raise the hard limit (ulimit -Hn): --threads auto has no more threads to add"
               : "--threads auto adds a table with each thread; or raise the hard limit "
                 "(ulimit -Hn)";
}

static void judge_fds(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count(in, REASON_FDS);
    char text[UNITS_TEXT_BYTES];
    struct diagnosis_line *line;

    if (n == 0)
        return;
    if (is_full(in->host->files_open, in->host->file_max)) {
        line = add(d, "fs.file-max", n);
        say(line->evidence, "%" PRIu64 " files open of %" PRIu64, in->host->files_open,
            in->host->file_max);
        say(line->remedy, "sysctl -w fs.file-max=%" PRIu64, in->host->file_max + 2 * n);
    } else {
        line = add(d, "fd limit", n);
        say(line->evidence, "fds per table: %s; %s", units_format_known(text, in->host->nofile),
            in->own_fd_tables ? "each thread has its own" : "all threads share one");
        say(line->remedy, "%s", fds_remedy(in));
    }
}

static bool tcp_memory_is_full(const struct diagnosis_input *in)
{
    return is_full(in->host->tcp_pages_used, in->host->tcp_pages_max);
}

/* Connects that timed out. */
static uint64_t count_stalled(const struct diagnosis_input *in)
{
    return tally_get(&in->tally->connections.ended[PHASE_CONNECT][REASON_TIMEOUT]);
}

static void blame_tcp_memory(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = add(d, "net.ipv4.tcp_mem", n);

    say(line->evidence, "TCP holds %" PRIu64 " pages of %" PRIu64 " (/proc/net/sockstat, mem)",
        in->host->tcp_pages_used, in->host->tcp_pages_max);
    say(line->remedy,
        "sysctl -w net.ipv4.tcp_mem with a higher third value, or smaller --sndbuf and --rcvbuf");
}

static void blame_address_space(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    char left[UNITS_TEXT_BYTES], available[UNITS_TEXT_BYTES];
    struct diagnosis_line *line = add(d, "ulimit -v", n);

    say(line->evidence, "of its address space (RLIMIT_AS) the client had %s left; the host had %s",
        units_format_bytes(left, in->host->address_space_bytes),
        units_format_bytes(available, in->host->memory_available_bytes));
    say(line->remedy, "ulimit -v unlimited, or as many KiB as it needs");
}

/* Unknown in a network namespace, where tcp_mem of the host holds all the same. */
static void blame_memory(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    char available[UNITS_TEXT_BYTES], used[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
    struct diagnosis_line *line = add(d, "memory", n);

    say(line->evidence, "memory available: %s; pages that TCP holds: %s, at most %s (tcp_mem)",
        in->host->memory_available_bytes == UNKNOWN
            ? "unknown"
            : units_format_bytes(available, in->host->memory_available_bytes),
        units_format_known(used, in->host->tcp_pages_used),
        units_format_known(most, in->host->tcp_pages_max));
    say(line->remedy, "%s",
        in->host->tcp_pages_max == UNKNOWN
            ? "more memory, or a higher net.ipv4.tcp_mem on the host: this namespace does not "
              "show it"
            : "more memory: net.ipv4.tcp_mem is not reached");
}

/* The client itself stopped before the kernel would have killed somebody. */
static void blame_shortage(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = add(d, "memory", n);

    say(line->evidence, "%s", in->shortage);
    say(line->remedy, "fewer connections, more memory, or a higher limit of the cgroup: --plan "
                      "says what they need");
}

/* Without room for its buffers the kernel refuses, or lets new connections stall without a word. */
static void judge_memory(struct diagnosis *d, const struct diagnosis_input *in)
{
    const bool full = tcp_memory_is_full(in);
    const uint64_t n = count(in, REASON_MEMORY) + (full ? count_stalled(in) : 0);

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

static void judge_stalled(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count_stalled(in);
    struct diagnosis_line *line;

    if (n == 0 || tcp_memory_is_full(in))
        return;
    if (is_full(in->host->conntrack_used, in->host->conntrack_max)) {
        line = add(d, "net.netfilter.nf_conntrack_max", n);
        say(line->evidence, "%" PRIu64 " connections tracked of %" PRIu64, in->host->conntrack_used,
            in->host->conntrack_max);
        say(line->remedy, "a larger table, or a notrack rule (scripts/setup-client.sh --notrack)");
        return;
    }
    /* each drops SYNs of its own: fewer overflows than connections are somebody else's */
    if (in->listen_overflows != UNKNOWN && in->listen_overflows >= n) {
        line = add(d, "the server's accept queue", n);
        say(line->evidence,
            "%" PRIu64 " SYNs were sent again, without an answer; %" PRIu64
            " accept queue overflows on this host",
            tally_get(&in->tally->connections.syn_retransmits), in->listen_overflows);
        say(line->remedy, "raise the server's backlog and net.core.somaxconn, or let it accept "
                          "faster: 'ss -ltn' shows the queue");
        return;
    }
    line = add(d, "the path to the server", n);
    say(line->evidence, "%" PRIu64 " SYNs were sent again, the last ones without an answer",
        tally_get(&in->tally->connections.syn_retransmits));
    say(line->remedy,
        "look for a firewall, the server's accept queue (ss -ltn there) and SYN backlog "
        "(net.ipv4.tcp_max_syn_backlog) and, in its dmesg, 'table full'");
}

/* --- established, and never answered --- */

struct unanswered {
    uint64_t silent, closed, reset, other_bytes;
};

static uint64_t sum(const struct unanswered *u)
{
    return u->silent + u->closed + u->reset + u->other_bytes;
}

/* All 0 when one has ever been answered, or nothing was asked.  Half-open ones that are still open
 * have no outcome yet. */
static struct unanswered count_unanswered(const struct diagnosis_input *in)
{
    const uint64_t n_half_open = count(in, REASON_HALF_OPEN);
    const uint64_t n_timed_out = count(in, REASON_TIMEOUT) - count_stalled(in);
    const struct tally *t = in->tally;

    if (tally_get(&t->connections.proven) > 0 || tally_get(&t->connections.connected) == 0 ||
        tally_get(&t->bytes_sent) == 0)
        return (struct unanswered){0};
    return (struct unanswered){
        .silent = n_timed_out + (n_half_open > in->half_open ? n_half_open : in->half_open),
        .closed = count(in, REASON_PEER),
        .reset = count(in, REASON_RESET),
        .other_bytes = count(in, REASON_MALFORMED),
    };
}

static bool was_never_answered(const struct diagnosis_input *in)
{
    const struct unanswered u = count_unanswered(in);

    return sum(&u) > 0;
}

static const char *unanswered_remedy(const struct diagnosis_input *in, const struct unanswered *u)
{
    const bool are_silent = u->silent > sum(u) / 2;

    if (in->over_tls)
        return "does that port speak TLS? If not, without --tls; or the server hangs, or it is a "
               "proxy whose backend is dead";
    if (are_silent && in->listen_overflows != UNKNOWN && in->listen_overflows > 0)
        return "the server takes no connection from its accept queue: it hangs or is stopped";
    if (are_silent)
        return "usually another --protocol is spoken there, the server hangs, or it is a proxy "
               "whose backend is dead";
    return "usually the port expects TLS (--tls), another --protocol is spoken there, or it is a "
           "proxy whose backend is dead";
}

static void judge_unanswered(struct diagnosis *d, const struct diagnosis_input *in)
{
    const struct unanswered u = count_unanswered(in);
    char others[64] = "";
    struct diagnosis_line *line;

    if (sum(&u) == 0)
        return;
    line = add(d, "nobody answers", sum(&u));
    if (in->not_begun > 0)
        snprintf(others, sizeof others, "; %" PRIu64 " more were not begun", in->not_begun);
    say(line->evidence,
        "none was ever answered (%s%s): %" PRIu64 " silent, %" PRIu64 " closed, %" PRIu64
        " reset, %" PRIu64 " with other bytes%s",
        in->protocol, in->over_tls ? " over TLS" : "", u.silent, u.closed, u.reset, u.other_bytes,
        others);
    say(line->remedy, "%s", unanswered_remedy(in, &u));
}

static void judge_half_open(struct diagnosis *d, const struct diagnosis_input *in)
{
    struct diagnosis_line *line;

    if (in->half_open == 0 || was_never_answered(in))
        return;
    line = add(d, "the server's accept queue or connection limit", in->half_open);
    if (in->listen_overflows != UNKNOWN && in->listen_overflows > 0)
        say(line->evidence,
            "established here, never answered; %" PRIu64 " accept queue overflows on "
            "this host",
            in->listen_overflows);
    else
        say(line->evidence, "established here, never answered");
    say(line->remedy, "%s", outcome_remedy(REASON_HALF_OPEN));
}

static void judge_refused(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n_itself = count(in, REASON_SELF);
    const uint64_t n = count(in, REASON_REFUSED) + n_itself;
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = add(d, "nobody listens", n);
    if (n_itself == 0)
        say(line->evidence, "the connects were answered with a reset");
    else
        say(line->evidence,
            "%" PRIu64 " connects answered with a reset, %" PRIu64 " connected to themselves",
            n - n_itself, n_itself);
    say(line->remedy, "start the server, or give its port (-p)");
}

/* --- ended by the server --- */

static void say_how_idle(const struct losses *l, struct diagnosis_line *line, const char *before)
{
    char least[UNITS_TEXT_BYTES], median[UNITS_TEXT_BYTES];

    say(line->evidence, "%s%" PRIu64 " that had answered, idle for %s at least, %s in the median",
        before, l->idle.count, units_format_duration(least, l->idle.min_ns),
        units_format_duration(median, hist_percentile(&l->idle, 1, 2)));
}

static void blame_end_of_server(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = add(d, "the server went away", n);
    const struct losses *l = in->losses;
    char text[UNITS_TEXT_BYTES];

    say(line->evidence, "all ended within %s, and no connection is accepted there now",
        units_format_duration(text, l->last_ns - l->first_ns));
    say(line->remedy, "it crashed, was killed or stopped: see its log, and dmesg for the OOM "
                      "killer; --reconnect waits until it is back");
}

static void blame_idle_timeout(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = add(d, "the server's idle timeout", n);

    say_how_idle(in->losses, line, "it ended ");
    say(line->remedy, "a longer one there, more queries for each connection (-r, -c), or "
                      "--reconnect");
}

static void blame_limits_of_server(struct diagnosis *d, const struct diagnosis_input *in,
                                   uint64_t n)
{
    struct diagnosis_line *line = add(d, "the server's limits", n);

    if (in->losses->idle.count == 0)
        say(line->evidence, "it accepted them and ended them before an answer");
    else
        say_how_idle(in->losses, line, "it accepted them and ended them; ");
    say(line->remedy, "its limit of connections, fds or queries per connection%s: see its log",
        in->none_is_left && losses_are_sudden(in->losses) ? ", or it was restarted" : "");
}

/* An idle timeout, too, ends all at a time that were last used at a time: the end of the server is
 * told from it by who accepts connections afterwards. */
static void judge_ended(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count(in, REASON_RESET) + count(in, REASON_PEER);

    if (n == 0 || was_never_answered(in))
        return;
    if (in->none_is_left && losses_are_sudden(in->losses) && in->server_was_tried &&
        !in->server_accepts)
        blame_end_of_server(d, in, n);
    else if (losses_are_of_idleness(in->losses))
        blame_idle_timeout(d, in, n);
    else
        blame_limits_of_server(d, in, n);
}

static void judge_deaf(struct diagnosis *d, const struct diagnosis_input *in)
{
    const struct tally *t = in->tally;
    struct diagnosis_line *line;

    if (in->deaf == 0)
        return;
    line = add(d, "connections gone deaf", in->deaf);
    say(line->evidence,
        "all %" PRIu64 " timeouts are on %" PRIu64 " connections; %" PRIu64
        " answered none of their last queries",
        tally_get(&t->queries[TALLY_WARMUP].timeout) +
            tally_get(&t->queries[TALLY_MEASURED].timeout),
        tally_get(&t->connections.with_timeouts), in->deaf);
    say(line->remedy, "%s",
        in->deaf >= in->live
            ? "the server hangs, or the path to it is broken"
            : "a NAT, firewall or load balancer forgot them, or a thread of the server hangs; "
              "--on-timeout close with --reconnect replaces them");
}

static int by_connections(const void *a, const void *b)
{
    const struct diagnosis_line *x = a, *y = b;

    return (x->connections < y->connections) - (x->connections > y->connections);
}

/* Each adds one line at most. */
static void (*const judges[])(struct diagnosis *, const struct diagnosis_input *) = {
    judge_ports,     judge_fds,     judge_memory, judge_stalled, judge_unanswered,
    judge_half_open, judge_refused, judge_ended,  judge_deaf,
};

enum { N_JUDGES = sizeof judges / sizeof *judges };

_Static_assert(N_JUDGES <= DIAGNOSIS_LINES, "room for a line of each");

void diagnosis_make(struct diagnosis *d, const struct diagnosis_input *in)
{
    d->n_lines = 0;
    for (int i = 0; i < N_JUDGES; i++)
        judges[i](d, in);
    qsort(d->lines, d->n_lines, sizeof *d->lines, by_connections);
}
