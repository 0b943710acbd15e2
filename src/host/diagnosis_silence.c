/* SPDX-License-Identifier: MIT
 * diagnosis_silence: see host/diagnosis_silence.h. */
#include "host/diagnosis_silence.h"

#include "base/units.h"

#include <stdio.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* --- established, and never answered --- */

struct unanswered {
    uint64_t silent, closed, reset, other_bytes;
};

static uint64_t sum(const struct unanswered *u)
{
    return u->silent + u->closed + u->reset + u->other_bytes;
}

/* Half-open connections that are still open have no outcome yet; of those that --reconnect has
 * replaced, only the outcome is left. */
static uint64_t count_half_open(const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_HALF_OPEN);

    return n > in->half_open ? n : in->half_open;
}

/* Without a proof, connections whose queries timed out, or that listened in vain, end as finished
 * or idle. */
static uint64_t count_silent(const struct diagnosis_input *in)
{
    const uint64_t n_failed = count_half_open(in) + diagnosis_line_count(in, REASON_TIMEOUT) -
                              diagnosis_line_count_stalled(in);
    const struct tally *t = in->tally;
    const uint64_t n_waited =
        tally_get(in->listens ? &t->connections.connected : &t->connections.with_timeouts);
    const uint64_t n_others = n_waited > n_failed ? n_waited - n_failed : 0;
    const uint64_t n_well =
        diagnosis_line_count(in, REASON_FINISHED) + diagnosis_line_count(in, REASON_IDLE);

    return n_failed + (n_others < n_well ? n_others : n_well);
}

/* All 0 if any connection was ever answered, or none waited for an answer. */
static struct unanswered count_unanswered(const struct diagnosis_input *in)
{
    const struct tally *t = in->tally;

    if (tally_get(&t->connections.proven) > 0 || tally_get(&t->connections.connected) == 0 ||
        (tally_get(&t->bytes_sent) == 0 && !in->listens))
        return (struct unanswered){0};
    return (struct unanswered){
        .silent = count_silent(in),
        .closed = diagnosis_line_count(in, REASON_PEER),
        .reset = diagnosis_line_count(in, REASON_RESET),
        .other_bytes = diagnosis_line_count(in, REASON_MALFORMED),
    };
}

bool diagnosis_silence_never_answered(const struct diagnosis_input *in)
{
    const struct unanswered u = count_unanswered(in);

    return sum(&u) > 0;
}

/* The accept queues of other programs may have overflowed; but a server that sends data has
 * accepted. */
static bool does_not_accept(const struct diagnosis_input *in)
{
    return in->listen_overflows != UNKNOWN && in->listen_overflows > 0 &&
           tally_get(&in->tally->bytes_received) == 0;
}

/* The kernel of the server's host would acknowledge even data that no program reads. */
static uint64_t count_unacknowledged(const struct diagnosis_input *in, const struct unanswered *u)
{
    const uint64_t n = tally_get(&in->tally->connections.unproven_unacknowledged);

    return n < u->silent ? n : u->silent;
}

static const char *unanswered_remedy(const struct diagnosis_input *in, const struct unanswered *u)
{
    const bool are_silent = u->silent > sum(u) / 2;
    const bool accepts_none = are_silent && does_not_accept(in);

    if (!accepts_none && count_unacknowledged(in, u) > sum(u) / 2)
        return "packets are lost on the way: check the firewalls and, if queries are large, the "
               "path MTU (ping -M do -s SIZE); or the server does not accept connections";
    if (in->with_proxy_headers)
        return "check that the server expects PROXY headers of this version, otherwise omit "
               "--proxy-protocol; or it uses another --protocol, hangs, or is a proxy whose "
               "backend is down";
    if (in->over_tls)
        return "check that the port uses TLS, otherwise omit --tls; or the server hangs, it is a "
               "proxy whose backend is down, or large packets are lost on the way (path MTU)";
    if (in->over_udp)
        return diagnosis_line_count(in, REASON_REFUSED) > 0
                   ? "nothing listens there: some sockets got 'port unreachable', and hosts limit "
                     "how many ICMP messages they send"
                   : "the server hangs or answers from another of its addresses, or a firewall "
                     "drops the datagrams";
    if (accepts_none)
        return "the server does not accept connections: it hangs or is stopped";
    if (in->listens)
        return "usually the server pushes no messages (tcpserver --push), hangs, or is a proxy "
               "whose backend is down";
    if (are_silent)
        return "usually the server speaks another --protocol, hangs, or is a proxy whose backend "
               "is down";
    return "usually the port expects TLS (--tls), the server speaks another --protocol, or it is a "
           "proxy whose backend is down";
}

void diagnosis_silence_unanswered(struct diagnosis *d, const struct diagnosis_input *in)
{
    const struct unanswered u = count_unanswered(in);
    const uint64_t n_unacknowledged = count_unacknowledged(in, &u);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], e[UNITS_TEXT_BYTES];
    char others[64] = "", unacknowledged[64] = "";
    struct diagnosis_line *line;

    if (sum(&u) == 0)
        return;
    if (n_unacknowledged > 0)
        snprintf(unacknowledged, sizeof unacknowledged, " (%s unacknowledged)",
                 units_format_count(a, n_unacknowledged));
    line = diagnosis_line_add(d, "nobody answers", sum(&u));
    if (in->not_begun > 0)
        snprintf(others, sizeof others, "; %s more not attempted",
                 units_format_count(a, in->not_begun));
    diagnosis_line_say(line->evidence,
                       "no connection ever got an answer (%s%s): %s silent%s, %s closed, %s reset, "
                       "%s got unexpected bytes%s",
                       in->protocol,
                       in->over_tls   ? " over TLS"
                       : in->over_udp ? " over UDP"
                                      : "",
                       units_format_count(a, u.silent), unacknowledged,
                       units_format_count(b, u.closed), units_format_count(c, u.reset),
                       units_format_count(e, u.other_bytes), others);
    diagnosis_line_say(line->remedy, "%s", unanswered_remedy(in, &u));
}

/* what: describes connections that the server may not have accepted. */
static void say_with_overflows(const struct diagnosis_input *in, struct diagnosis_line *line,
                               const char *what)
{
    char n[UNITS_TEXT_BYTES];

    if (in->listen_overflows == UNKNOWN || in->listen_overflows == 0)
        diagnosis_line_say(line->evidence, "%s", what);
    else
        diagnosis_line_say(line->evidence, "%s; %s accept queue %s on this host", what,
                           units_format_count(n, in->listen_overflows),
                           units_noun(in->listen_overflows, "overflow", "overflows"));
}

/* Connections that stay in the accept queue, because the server has reached a limit, begin no
 * handshake. */
void diagnosis_silence_handshakes(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = tally_get(&in->tally->connections.ended[PHASE_TLS][REASON_TIMEOUT]);
    struct diagnosis_line *line;

    if (n == 0 || diagnosis_silence_never_answered(in))
        return;
    line = diagnosis_line_add(d, "the server's TLS handshakes", n);
    say_with_overflows(in, line,
                       "connected, but the TLS handshake took longer than --connect-timeout");
    diagnosis_line_say(line->remedy, "if the server is at its limit of connections or open files, "
                                     "raise it; if it is too slow for this many handshakes at a "
                                     "time, lower --connect-window or --connect-rate; or it hangs");
}

/* UDP sockets whose first query got no answer. */
static void blame_loss(struct diagnosis *d, const struct diagnosis_input *in)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "lost datagrams", count_half_open(in));

    diagnosis_line_say(line->evidence, "the first query on the socket got no answer");
    diagnosis_line_say(line->remedy,
                       "omit --prove yes: over UDP a query or its answer may be lost");
}

uint64_t diagnosis_silence_closed(const struct diagnosis_input *in)
{
    const uint64_t n_ended =
        diagnosis_line_count(in, REASON_RESET) + diagnosis_line_count(in, REASON_PEER);

    return in->silent != NULL ? n_ended - in->losses->idle_us.count : 0;
}

static const char *silent_port_remedy(const struct diagnosis_input *in, bool are_closed)
{
    if (in->over_udp)
        return "the server there hangs or answers from another of its addresses, or a firewall "
               "drops the datagrams";
    if (are_closed)
        return "usually only one side uses TLS (tls=yes), the server there speaks another "
               "--protocol, it has reached a limit, or it is a proxy whose backend is down";
    return "usually the server there speaks another --protocol, expects TLS (tls=yes), hangs, or "
           "is a proxy whose backend is down";
}

static void blame_silent_port(struct diagnosis *d, const struct diagnosis_input *in,
                              uint64_t n_half_open, uint64_t n_closed)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "nobody answers", n_half_open + n_closed);
    char how[64] = "", n[UNITS_TEXT_BYTES];

    if (n_closed > 0)
        snprintf(how, sizeof how, " (%s closed or reset)", units_format_count(n, n_closed));
    diagnosis_line_say(line->evidence,
                       "no connection to %s ever got an answer%s; all others that were "
                       "established did",
                       in->silent, how);
    diagnosis_line_say(line->remedy, "%s", silent_port_remedy(in, n_closed > n_half_open));
}

/* Whether the server no longer answers on any connection. */
static bool all_are_silent(const struct diagnosis_input *in)
{
    return in->unresponsive >= in->live || in->answering == 0;
}

/* Returns how many live connections never answered their queries, although others do: with proofs
 * they would be half-open. */
static uint64_t count_never_accepted(const struct diagnosis_input *in)
{
    const uint64_t n = tally_get(&in->tally->connections.unresponsive_unproven);

    if (in->over_udp || all_are_silent(in))
        return 0;
    return n < in->unresponsive ? n : in->unresponsive;
}

void diagnosis_silence_half_open(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n_half_open = count_half_open(in) + count_never_accepted(in);
    const uint64_t n_closed = diagnosis_silence_closed(in);
    struct diagnosis_line *line;

    if (n_half_open + n_closed == 0 || diagnosis_silence_never_answered(in))
        return;
    if (in->silent != NULL) {
        blame_silent_port(d, in, n_half_open, n_closed);
        return;
    }
    if (in->over_udp) {
        blame_loss(d, in);
        return;
    }
    line = diagnosis_line_add(d, "the server's accept queue or connection limit", n_half_open);
    say_with_overflows(in, line, "established here, never answered");
    diagnosis_line_say(line->remedy, "raise the server's backlog and net.core.somaxconn, or its "
                                     "limit of connections or open files");
}

/* --- unresponsive connections --- */

/* Unresponsive connections that were never answered belong to the limits above. */
static uint64_t count_unresponsive(const struct diagnosis_input *in)
{
    return in->unresponsive - count_never_accepted(in);
}

/* Returns how many of these have not even acknowledged the last queries. */
static uint64_t count_cut_off(const struct diagnosis_input *in)
{
    const uint64_t n = tally_get(&in->tally->connections.unresponsive_unacknowledged);
    const uint64_t n_unresponsive = count_unresponsive(in);

    return n < n_unresponsive ? n : n_unresponsive;
}

static void say_how_unresponsive(const struct diagnosis_input *in, struct diagnosis_line *line)
{
    const struct tally *t = in->tally;
    const uint64_t n_with_timeouts = tally_get(&t->connections.with_timeouts);
    const uint64_t n_timeouts = tally_get(&t->queries[TALLY_WARMUP].timeout) +
                                tally_get(&t->queries[TALLY_MEASURED].timeout);
    const uint64_t n_cut_off = count_cut_off(in);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];
    char acknowledged[64] = "";

    if (n_cut_off > 0)
        snprintf(acknowledged, sizeof acknowledged, "; %s of these did not acknowledge them",
                 units_format_count(d, n_cut_off));
    else if (!in->over_udp)
        snprintf(acknowledged, sizeof acknowledged, ", but acknowledged them");
    diagnosis_line_say(line->evidence, "%s%s %s on %s %s; %s did not answer the last queries%s",
                       units_noun(n_timeouts, "", "all "), units_format_count(a, n_timeouts),
                       units_noun(n_timeouts, "timeout is", "timeouts are"),
                       units_format_count(b, n_with_timeouts),
                       units_noun(n_with_timeouts, "connection", "connections"),
                       units_format_count(c, count_unresponsive(in)), acknowledged);
}

/* A kernel acknowledges data even if the program that should read it hangs. */
static const char *unresponsive_remedy(const struct diagnosis_input *in)
{
    const bool are_heard = !in->over_udp && 2 * count_cut_off(in) < count_unresponsive(in);

    if (all_are_silent(in))
        return in->over_udp ? "the server hangs, or the network path is broken"
               : are_heard  ? "the server hangs"
                            : "the network path is broken, or the server's host is down";
    if (in->over_udp)
        return "a NAT, firewall or load balancer dropped their state, or a server thread hangs";
    return are_heard ? "a thread of the server hangs, or a proxy's backend does"
                     : "packets are lost on the way, or a NAT, firewall or load balancer dropped "
                       "their state";
}

static const char *unresponsive_replacement(const struct diagnosis_input *in)
{
    if (all_are_silent(in))
        return "";
    return in->on_demand || in->reconnects ? "; --on-timeout close replaces them"
                                           : "; --on-timeout close with --reconnect replaces them";
}

void diagnosis_silence_unresponsive(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count_unresponsive(in);
    struct diagnosis_line *line;

    if (n == 0 || diagnosis_silence_never_answered(in))
        return;
    line = diagnosis_line_add(d, "unresponsive connections", n);
    say_how_unresponsive(in, line);
    diagnosis_line_say(line->remedy, "%s%s", unresponsive_remedy(in), unresponsive_replacement(in));
}

/* --- given up --- */

/* By --on-timeout close, or by the kernel, whose retransmissions were not acknowledged. */
void diagnosis_silence_given_up(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = tally_get(&in->tally->connections.ended[PHASE_RECEIVE][REASON_TIMEOUT]);
    struct diagnosis_line *line;

    if (n == 0 || diagnosis_silence_never_answered(in))
        return;
    line = diagnosis_line_add(d, "unanswered queries", n);
    diagnosis_line_say(line->evidence, "closed by this host because a query had no answer in time");
    diagnosis_line_say(line->remedy, "%s%s",
                       in->none_is_left
                           ? "the server hangs, or the network path is broken"
                           : "the server is slower than --timeout at this load, a thread of it "
                             "hangs, or packets are lost",
                       in->reconnects || in->on_demand ? "" : "; --reconnect replaces them");
}
