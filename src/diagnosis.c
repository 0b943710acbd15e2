/* SPDX-License-Identifier: MIT
 * diagnosis: see diagnosis.h. */
#include "diagnosis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN HOSTFACTS_UNKNOWN

/* Used up: within so much of the limit. */
#define FULL_PERCENT 97u

static uint64_t count(const struct diagnosis_input *in, enum outcome_reason reason)
{
    return tally_connections_by_reason(in->tally, reason);
}

static bool is_full(uint64_t used, uint64_t limit)
{
    return used != UNKNOWN && limit != UNKNOWN && used >= limit / 100 * FULL_PERCENT;
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
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = add(d, "source ports", n);
    if (in->churns) {
        say(line->evidence,
            "source ports exhausted: %" PRIu64 " in TIME_WAIT of %" PRIu64
            "; %.1f connections/s came about",
            in->in_time_wait, in->n_tuples, in->churn_per_s);
        say(line->remedy, "--close rst leaves no TIME_WAIT; or more tuples: --source, --sport");
        return;
    }
    say(line->evidence, "%" PRIu64 " source tuples, %" PRIu64 " sockets in TIME_WAIT on this host",
        in->n_tuples, in->host->sockets_in_time_wait);
    say(line->remedy, "%s", outcome_remedy(REASON_PORTS));
}

static void judge_fds(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count(in, REASON_FDS);
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
        say(line->evidence, "a limit of %" PRIu64 " per fd table", in->host->nofile);
        say(line->remedy, "%s", outcome_remedy(REASON_FDS));
    }
}

/* Without room for its buffers the kernel refuses, or lets new connections stall without a word. */
static bool judge_memory(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n_stalled)
{
    const bool full = is_full(in->host->tcp_pages_used, in->host->tcp_pages_max);
    const uint64_t n = count(in, REASON_MEMORY) + (full ? n_stalled : 0);
    struct diagnosis_line *line;

    if (n == 0)
        return false;
    line = add(d, "net.ipv4.tcp_mem", n);
    say(line->evidence, "TCP holds %" PRIu64 " pages of %" PRIu64 " (/proc/net/sockstat, mem)",
        in->host->tcp_pages_used, in->host->tcp_pages_max);
    say(line->remedy, full
                          ? "sysctl -w net.ipv4.tcp_mem with a higher third value, or smaller "
                            "--sndbuf and --rcvbuf"
                          : "more memory: the kernel refused some although tcp_mem is not reached");
    return full;
}

static void judge_stalled(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line;

    if (n == 0)
        return;
    if (is_full(in->host->conntrack_used, in->host->conntrack_max)) {
        line = add(d, "net.netfilter.nf_conntrack_max", n);
        say(line->evidence, "%" PRIu64 " connections tracked of %" PRIu64, in->host->conntrack_used,
            in->host->conntrack_max);
        say(line->remedy, "a notrack rule (scripts/setup-client.sh), or a larger table");
        return;
    }
    line = add(d, "the path to the server", n);
    say(line->evidence, "%" PRIu64 " SYNs were sent again, the last ones without an answer",
        tally_get(&in->tally->connections.syn_retransmits));
    say(line->remedy,
        "look for a firewall, the server's SYN backlog (net.ipv4.tcp_max_syn_backlog) and, "
        "in its dmesg, 'table full'");
}

static void judge_half_open(struct diagnosis *d, const struct diagnosis_input *in)
{
    struct diagnosis_line *line;

    if (in->half_open == 0)
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

static void judge_server(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n_itself = count(in, REASON_SELF);
    const uint64_t n_refused = count(in, REASON_REFUSED) + n_itself;
    const uint64_t n_ended = count(in, REASON_RESET) + count(in, REASON_PEER);
    struct diagnosis_line *line;

    if (n_refused > 0) {
        line = add(d, "nobody listens", n_refused);
        if (n_itself == 0)
            say(line->evidence, "the connects were answered with a reset");
        else
            say(line->evidence,
                "%" PRIu64 " connects answered with a reset, %" PRIu64 " connected to themselves",
                n_refused - n_itself, n_itself);
        say(line->remedy, "start the server, or give its port (-p)");
    }
    if (n_ended > 0) {
        line = add(d, "the server's limits", n_ended);
        say(line->evidence, "it accepted them and ended them");
        say(line->remedy, "its connection limit, fd limit or idle timeout: see its log");
    }
}

static int by_connections(const void *a, const void *b)
{
    const struct diagnosis_line *x = a, *y = b;

    return (x->connections < y->connections) - (x->connections > y->connections);
}

void diagnosis_make(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n_stalled =
        tally_get(&in->tally->connections.ended[PHASE_CONNECT][REASON_TIMEOUT]);

    d->n_lines = 0;
    judge_ports(d, in);
    judge_fds(d, in);
    if (!judge_memory(d, in, n_stalled))
        judge_stalled(d, in, n_stalled);
    judge_half_open(d, in);
    judge_server(d, in);
    qsort(d->lines, d->n_lines, sizeof *d->lines, by_connections);
}
