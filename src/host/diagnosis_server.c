/* SPDX-License-Identifier: MIT
 * diagnosis_server: see host/diagnosis_server.h. */
#include "host/diagnosis_server.h"

#include "base/units.h"
#include "host/diagnosis_silence.h"

#include <stdio.h>

/* Connections to themselves found no listener either. */
static void say_how_many_refused(const struct diagnosis_input *in, char *text, uint64_t n_refused,
                                 uint64_t n_itself)
{
    const uint64_t n_attempted = tally_get(&in->tally->connections.attempted);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (n_itself > 0)
        diagnosis_line_say(
            text, "%s %s refused, %s connected to %s", units_format_count(a, n_refused),
            units_noun(n_refused, "connection", "connections"), units_format_count(b, n_itself),
            units_noun(n_itself, "itself", "themselves"));
    else if (in->over_udp)
        diagnosis_line_say(text, "%s of %s %s got 'port unreachable' (ICMP)",
                           units_format_count(a, n_refused), units_format_count(b, n_attempted),
                           units_noun(n_attempted, "socket", "sockets"));
    else
        diagnosis_line_say(text, "%s of %s %s refused", units_format_count(a, n_refused),
                           units_format_count(b, n_attempted),
                           units_noun(n_attempted, "connection", "connections"));
}

static void blame_nobody(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n,
                         const char *refused)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "nobody listens", n);

    diagnosis_line_say(line->evidence, "%s: nothing listens on %s", refused, in->target);
    diagnosis_line_say(line->remedy, "start the server, or check the port (-p%s)",
                       in->has_classes ? ", --class" : "");
}

static void blame_refusals(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n,
                           const char *refused)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "connections refused", n);

    diagnosis_line_say(line->evidence, "%s, but others to %s are live", refused, in->target);
    diagnosis_line_say(line->remedy, "the server did not listen for a time, or a firewall or load "
                                     "balancer rejects connections: see their logs");
}

void diagnosis_server_refused(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n_refused = diagnosis_line_count(in, REASON_REFUSED);
    const uint64_t n_itself = diagnosis_line_count(in, REASON_SELF);
    char refused[DIAGNOSIS_TEXT_BYTES];

    if (n_refused + n_itself == 0)
        return;
    say_how_many_refused(in, refused, n_refused, n_itself);
    if (in->target_serves)
        blame_refusals(d, in, n_refused + n_itself, refused);
    else
        blame_nobody(d, in, n_refused + n_itself, refused);
}

/* --- ended by the server --- */

static void say_how_idle(const struct losses *l, struct diagnosis_line *line, const char *before)
{
    const bool but_for_some = losses_have_exceptions(l);
    const uint64_t least_ns = but_for_some ? losses_idle_of_most_ns(l) : losses_least_idle_ns(l);
    char n[UNITS_TEXT_BYTES], idle[LOSSES_TEXT_BYTES];

    diagnosis_line_say(line->evidence, "%s%s that had answered, %s%s", before,
                       units_format_count(n, l->idle_us.count), but_for_some ? "95 % " : "",
                       losses_format_idle(idle, l, least_ns));
}

static void blame_end_of_server(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "the server went away", n);
    const struct losses *l = in->losses;
    char when[UNITS_TEXT_BYTES + 32] = "", text[UNITS_TEXT_BYTES];

    if (n > 1)
        snprintf(when, sizeof when, "all ended within %s, and ",
                 units_format_duration(text, l->last_ns - l->first_ns));
    if (in->lost != NULL && !in->none_is_left)
        diagnosis_line_say(line->evidence, "%sconnections to %s are %s", when, in->lost,
                           in->server_was_tried ? "not accepted now" : "refused");
    else
        diagnosis_line_say(line->evidence, "%sthe server %s", when,
                           in->server_was_tried ? "accepts no connections now"
                                                : "refuses connections");
    diagnosis_line_say(line->remedy,
                       "the server crashed, was killed or was stopped: see its log, and dmesg for "
                       "the OOM killer%s",
                       in->reconnects || in->on_demand ? ""
                                                       : "; --reconnect retries until it is back");
}

static const char *idle_remedy(const struct diagnosis_input *in)
{
    if (in->on_demand)
        return ", or close connections before the server does (--idle-close)";
    if (in->listens)
        return in->reconnects ? "" : ", or use --reconnect";
    return in->reconnects ? ", or send more queries per connection"
                          : ", send more queries per connection, or use --reconnect";
}

static void blame_idle_timeout(struct diagnosis *d, const struct diagnosis_input *in, uint64_t n)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "the server's idle timeout", n);

    say_how_idle(in->losses, line, "closed by the server: ");
    diagnosis_line_say(line->remedy, "raise the server's timeout%s", idle_remedy(in));
}

static void say_after_how_many(const struct losses *l, struct diagnosis_line *line,
                               const char *before)
{
    char n[UNITS_TEXT_BYTES], answers[LOSSES_TEXT_BYTES];

    diagnosis_line_say(line->evidence, "%s%s that had answered, %s", before,
                       units_format_count(n, l->idle_us.count), losses_format_answers(answers, l));
}

static void blame_limits_of_server(struct diagnosis *d, const struct diagnosis_input *in,
                                   uint64_t n, uint64_t n_answered)
{
    struct diagnosis_line *line = diagnosis_line_add(d, "the server's limits", n);
    const uint64_t n_of_each = n_answered > 0 ? losses_answers_of_each(in->losses) : 0;
    const bool has_same_queries = n_of_each > 1; /* one may have been the proof of each */
    char before[64] = "accepted, then closed: ", count[UNITS_TEXT_BYTES];

    if (n_answered > 0 && n_answered < n)
        snprintf(before, sizeof before, "accepted, then closed: %s before an answer, ",
                 units_format_count(count, n - n_answered));
    if (n_answered == 0)
        diagnosis_line_say(line->evidence, "accepted, then closed before an answer");
    else if (n_of_each > 0)
        say_after_how_many(in->losses, line, before);
    else
        say_how_idle(in->losses, line, before);
    diagnosis_line_say(
        line->remedy, "a limit on %squeries per connection%s%s: see the server's log%s",
        has_same_queries ? "" : "connections, fds or ",
        n_answered > 0 && in->none_is_left && losses_are_sudden(in->losses) ? ", or a restart" : "",
        n_answered < n ? ", or a load balancer with a backend that is down" : "",
        has_same_queries && !in->reconnects ? ", or use --reconnect" : "");
}

/* Those that were reset before they were ever answered.  Connections that were closed without a
 * reset may have been idle, too, if no query was sent on them. */
static uint64_t count_turned_away(const struct diagnosis_input *in, uint64_t n_ended)
{
    const uint64_t n_unanswered = n_ended - in->losses->idle_us.count;
    const uint64_t n_reset = diagnosis_line_count(in, REASON_RESET);

    return n_reset < n_unanswered ? n_reset : n_unanswered;
}

static void blame_timeout_and_limits(struct diagnosis *d, const struct diagnosis_input *in,
                                     uint64_t n)
{
    const uint64_t n_turned_away = count_turned_away(in, n);

    blame_idle_timeout(d, in, n - n_turned_away);
    if (n_turned_away > 0)
        blame_limits_of_server(d, in, n_turned_away, 0);
}

/* An interrupted run does not test the server: its replacements have done that, and failed.  With
 * --on-demand, they may have been closed again. */
static bool accepts_no_more(const struct diagnosis_input *in)
{
    if (in->server_was_tried)
        return !in->server_accepts;
    return !in->on_demand && diagnosis_line_count(in, REASON_REFUSED) > 0;
}

/* An idle timeout can also close all connections at once, if they were last used at the same time.
 * Whether the server still accepts connections tells it from a server that has ended. */
void diagnosis_server_ended(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_RESET) +
                       diagnosis_line_count(in, REASON_PEER) - diagnosis_silence_closed(in);

    if (n == 0 || diagnosis_silence_never_answered(in))
        return;
    if ((in->none_is_left || in->lost != NULL) && losses_are_sudden(in->losses) &&
        accepts_no_more(in))
        blame_end_of_server(d, in, n);
    else if (losses_are_idle_timeouts(in->losses))
        blame_timeout_and_limits(d, in, n);
    else
        blame_limits_of_server(d, in, n, in->losses->idle_us.count);
}
