/* SPDX-License-Identifier: MIT
 * verdict: see measure/verdict.h.  The limits are those of docs/report.md, "Verdict". */
#include "measure/verdict.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MIN_SENT_ON_SCHEDULE 0.999

/* This host's own delay may be at most this fraction of a percentile ... */
#define MAX_OWN_PART 10u

/* ... or any fraction if it is below these limits. */
static const uint64_t max_own_ns[VERDICT_N_PERCENTILES] = {
    100000, 300000, 500000, 1000000, 1000000, 1000000, 1000000,
};

/* A queue that grows steadily from zero is at least 3 times as long in the last quarter as at the
 * start of the second; after a transition that is left out, 2 times.  The constant excludes small,
 * noisy numbers. */
#define MAX_GROWTH          1.5
#define MAX_GROWTH_CONSTANT 50.0

/* --- percentiles --- */

static uint64_t limit_ns(const struct verdict_input *in, unsigned i)
{
    const uint64_t part_ns = in->percentiles[i].response_ns / MAX_OWN_PART;

    return part_ns > max_own_ns[i] ? part_ns : max_own_ns[i];
}

/* Number of queries slower than percentile i, which has rank ceil(q n); the maximum has rank n. */
static uint64_t n_above(const struct verdict_input *in, unsigned i)
{
    const struct latency_percentile *p = &latency_percentiles[i];
    const uint64_t n = in->n_latencies;

    if (i >= LATENCY_N_PERCENTILES)
        return 0;
    return n - n / p->den * p->num - (n % p->den * p->num + p->den - 1) / p->den;
}

/* Assumes that the delayed ones are the slowest. */
static bool is_reached_by_loss(const struct verdict_input *in, unsigned i)
{
    return in->n_delayed_by_loss > n_above(in, i);
}

bool verdict_holds(const struct verdict_input *in, unsigned i)
{
    return !in->has_latency ||
           (in->percentiles[i].own_ns <= limit_ns(in, i) && !is_reached_by_loss(in, i));
}

unsigned verdict_n_holding(const struct verdict_input *in)
{
    unsigned n = 0;

    while (n < VERDICT_N_PERCENTILES && verdict_holds(in, n))
        n++;
    return n;
}

const char *verdict_percentile_name(unsigned i)
{
    return i < LATENCY_N_PERCENTILES ? latency_percentiles[i].name : "max";
}

/* --- the run --- */

static bool schedule_was_missed(const struct verdict_input *in)
{
    return in->scheduled > 0 && in->sent_on_schedule < MIN_SENT_ON_SCHEDULE;
}

bool verdict_has_grown(uint64_t in_flight_early, uint64_t in_flight_late)
{
    return (double)in_flight_late > MAX_GROWTH * (double)in_flight_early + MAX_GROWTH_CONSTANT;
}

unsigned verdict_judge(const struct verdict_input *in)
{
    const bool is_short = in->connections_live < in->connections_wanted;
    const bool doubts[VERDICT_N_REASONS] = {
        [VERDICT_GENERATOR_LIMITED] = schedule_was_missed(in),
        [VERDICT_NON_STATIONARY] =
            in->has_growth && verdict_has_grown(in->in_flight_early, in->in_flight_late),
        [VERDICT_OUTPUT_LOST] = in->rows_dropped > 0 || in->output_failed,
        [VERDICT_HOST_NOISE] = verdict_n_holding(in) <= in->required,
        [VERDICT_MEMORY_PRESSURE] = in->tcp_memory_pressures > 0,
        [VERDICT_DATAGRAMS_DROPPED] = in->datagrams_dropped > 0,
        [VERDICT_CONNECTIONS_SHORT] = is_short,
        [VERDICT_UNSENT] = in->unsent > 0,
        [VERDICT_CHURN_PLATEAU] = in->out_of_ports > 0,
        [VERDICT_PUSH_LOST] = in->messages_missing + in->unfinished > 0,
        [VERDICT_CLOCKS_DISAGREE] = in->negative_latencies > 0,
        [VERDICT_START_MISSED] = in->start_was_missed,
        [VERDICT_CUT_SHORT] = in->cancelled > 0,
        [VERDICT_INCONCLUSIVE] = in->search_is_inconclusive,
        [VERDICT_NOTHING_MEASURED] = in->measured_nothing && !in->start_was_missed,
    };
    unsigned reasons = 0;

    for (int i = 0; i < VERDICT_N_REASONS; i++)
        reasons |= (unsigned)doubts[i] << i;
    return reasons;
}

/* --- words --- */

enum { SUBJECT_BYTES = 32, HOLD_BYTES = 80 }; /* of parts of a sentence */

#define VERDICT_NAME(id, name, meaning)    name,
#define VERDICT_MEANING(id, name, meaning) meaning,

const char *verdict_name(enum verdict_reason reason)
{
    static const char *const names[] = {VERDICT_REASONS(VERDICT_NAME)};

    return names[reason];
}

const char *verdict_meaning(enum verdict_reason reason)
{
    static const char *const meanings[] = {VERDICT_REASONS(VERDICT_MEANING)};

    return meanings[reason];
}

/* Whether a percentile above i holds: the limits are higher there. */
static bool holds_above(const struct verdict_input *in, unsigned i)
{
    while (++i < VERDICT_N_PERCENTILES)
        if (verdict_holds(in, i))
            return true;
    return false;
}

/* The percentiles from i on, or only i if others above hold, with a verb that agrees: "p99.9 and
 * above include". */
static const char *from_percentile(char text[SUBJECT_BYTES], const struct verdict_input *in,
                                   unsigned i, const char *plural, const char *singular)
{
    if (i == VERDICT_N_PERCENTILES - 1)
        snprintf(text, SUBJECT_BYTES, "the maximum %s", singular);
    else if (holds_above(in, i))
        snprintf(text, SUBJECT_BYTES, "%s %s", verdict_percentile_name(i), singular);
    else
        snprintf(text, SUBJECT_BYTES, "%s and above %s", verdict_percentile_name(i), plural);
    return text;
}

/* "; queries waited ..." if the connect rate alone can have made own delays exceed the limit. */
static const char *hold_text(char text[HOLD_BYTES], const struct verdict_input *in, unsigned i)
{
    char hold[UNITS_TEXT_BYTES];

    text[0] = '\0';
    if (in->longest_hold_ns > limit_ns(in, i))
        snprintf(text, HOLD_BYTES, "; queries waited up to %s for --connect-rate: raise it",
                 units_format_duration(hold, in->longest_hold_ns));
    return text;
}

/* Explains the first percentile that does not hold. */
static void explain_delay(char *text, size_t n_bytes, const struct verdict_input *in)
{
    char own[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES], n[UNITS_TEXT_BYTES], hold[HOLD_BYTES];
    char subject[SUBJECT_BYTES];
    const unsigned i = verdict_n_holding(in);
    int n_written;

    assert(i < VERDICT_N_PERCENTILES);
    if (is_reached_by_loss(in, i))
        n_written =
            snprintf(text, n_bytes,
                     "up to %s %s waited for %" PRIu64 " %s lost on loopback: %s not the server's",
                     units_format_count(n, in->n_delayed_by_loss),
                     in->of_messages ? units_noun(in->n_delayed_by_loss, "message", "messages")
                                     : units_noun(in->n_delayed_by_loss, "query", "queries"),
                     in->lost_segments, units_noun(in->lost_segments, "packet", "packets"),
                     from_percentile(subject, in, i, "are", "is"));
    else
        n_written = snprintf(
            text, n_bytes, "%s %s at %s (limit %s)%s",
            in->of_messages ? "the server's send lag and this host's delay add up to"
                            : "this host's own delay is",
            units_format_duration(own, in->percentiles[i].own_ns), verdict_percentile_name(i),
            units_format_duration(limit, limit_ns(in, i)), hold_text(hold, in, i));
    if (in->has_steal && in->steal_percent >= 0.1 && n_written > 0 && (size_t)n_written < n_bytes)
        snprintf(text + n_written, n_bytes - (size_t)n_written, "; %.1f %% of CPU time stolen",
                 in->steal_percent);
}

static void print_count(char *text, size_t n_bytes, uint64_t count, const char *one,
                        const char *many)
{
    char number[UNITS_TEXT_BYTES];

    snprintf(text, n_bytes, "%s %s", units_format_count(number, count),
             units_noun(count, one, many));
}

/* In percent to two decimals, rounded down: what is below the limit is not printed as the limit. */
static double percent_on_schedule(const struct verdict_input *in)
{
    return floor(1e4 * in->sent_on_schedule + 1e-6) / 100;
}

/* The figure that precedes the meaning. */
static void print_figure(char *text, size_t n_bytes, const struct verdict_input *in,
                         enum verdict_reason reason)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    text[0] = '\0';
    if (reason == VERDICT_GENERATOR_LIMITED)
        snprintf(text, n_bytes, "%.2f %% of queries sent on schedule (limit %.1f %%)",
                 percent_on_schedule(in), 100 * MIN_SENT_ON_SCHEDULE);
    else if (reason == VERDICT_NON_STATIONARY)
        snprintf(text, n_bytes, "queries in flight grew from %s to %s",
                 units_format_count(a, in->in_flight_early),
                 units_format_count(b, in->in_flight_late));
    else if (reason == VERDICT_OUTPUT_LOST && in->rows_dropped > 0)
        print_count(text, n_bytes, in->rows_dropped, "row", "rows");
    else if (reason == VERDICT_MEMORY_PRESSURE)
        print_count(text, n_bytes, in->tcp_memory_pressures, "time", "times");
    else if (reason == VERDICT_DATAGRAMS_DROPPED)
        print_count(text, n_bytes, in->datagrams_dropped, "datagram", "datagrams");
    else if (reason == VERDICT_CONNECTIONS_SHORT)
        snprintf(text, n_bytes, "%s of %s live", units_format_count(a, in->connections_live),
                 units_format_count(b, in->connections_wanted));
    else if (reason == VERDICT_UNSENT)
        snprintf(text, n_bytes, "%s of %s %s", units_format_count(a, in->unsent),
                 units_format_count(b, in->scheduled),
                 units_noun(in->scheduled, "query", "queries"));
    else if (reason == VERDICT_CHURN_PLATEAU)
        print_count(text, n_bytes, in->out_of_ports, "connection", "connections");
    else if (reason == VERDICT_PUSH_LOST && in->messages_missing == 0)
        print_count(text, n_bytes, in->unfinished, "connection not read to the end",
                    "connections not read to the end");
    else if (reason == VERDICT_PUSH_LOST)
        print_count(text, n_bytes, in->messages_missing, "message", "messages");
    else if (reason == VERDICT_CUT_SHORT)
        print_count(text, n_bytes, in->cancelled, "query", "queries");
    else if (reason == VERDICT_CLOCKS_DISAGREE)
        print_count(text, n_bytes, in->negative_latencies, "message", "messages");
}

static const char *meaning_here(const struct verdict_input *in, enum verdict_reason reason)
{
    if (reason == VERDICT_PUSH_LOST && in->messages_missing == 0 && in->unfinished > 0)
        return "the server was late or hung, the path to it broke, or the listener was too slow: "
               "use more threads";
    if (reason != VERDICT_NOTHING_MEASURED)
        return verdict_meaning(reason);
    if (in->interrupted)
        return "the run was interrupted before a query or message was due";
    if (in->connections_wanted > 0 && in->connections_live == 0)
        return "no query or message was due, as no connection was live: see the connection "
               "outcomes";
    if (in->of_messages)
        return "no message was due: use a longer --duration, or a server that pushes (tcpserver "
               "--push)";
    return verdict_meaning(reason);
}

const char *verdict_explain(char *text, const struct verdict_input *in, enum verdict_reason reason)
{
    char cause[VERDICT_TEXT_BYTES - 32];

    if (reason == VERDICT_HOST_NOISE) {
        explain_delay(cause, sizeof cause, in);
        snprintf(text, VERDICT_TEXT_BYTES, "%s: %s: see docs/noise.md", verdict_name(reason),
                 cause);
        return text;
    }
    print_figure(cause, sizeof cause, in, reason);
    snprintf(text, VERDICT_TEXT_BYTES, "%s: %.100s%s%.120s", verdict_name(reason), cause,
             cause[0] != '\0' ? ": " : "", meaning_here(in, reason));
    return text;
}

const char *verdict_headline(char *text, const struct verdict_input *in)
{
    const bool is_valid = verdict_judge(in) == 0;
    const unsigned n = verdict_n_holding(in);
    char own[UNITS_TEXT_BYTES], subject[SUBJECT_BYTES];

    if (n == VERDICT_N_PERCENTILES)
        snprintf(text, VERDICT_TEXT_BYTES, "%s", is_valid ? "VALID" : "SUSPECT");
    else if (n == 0)
        snprintf(text, VERDICT_TEXT_BYTES, "SUSPECT (%s)",
                 holds_above(in, 0) ? "p50 does not hold" : "no percentile holds");
    else if (is_reached_by_loss(in, n))
        snprintf(text, VERDICT_TEXT_BYTES, "%s to %s; %s waits for packets lost on this host%s",
                 is_valid ? "VALID" : "SUSPECT (holds", verdict_percentile_name(n - 1),
                 from_percentile(subject, in, n, "may include", "may include"),
                 is_valid ? "" : ")");
    else
        snprintf(text, VERDICT_TEXT_BYTES, "%s to %s; %s %s of %s%s",
                 is_valid ? "VALID" : "SUSPECT (holds", verdict_percentile_name(n - 1),
                 from_percentile(subject, in, n, "include", "includes"),
                 in->of_messages ? "the server's send lag and this host's delays"
                                 : "this host's own delays",
                 units_format_duration(own, in->percentiles[n].own_ns), is_valid ? "" : ")");
    return text;
}
