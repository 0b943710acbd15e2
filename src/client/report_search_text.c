/* SPDX-License-Identifier: MIT
 * report_search_text: see client/report_search_text.h. */
#include "client/report_search_text.h"

#include "base/units.h"
#include "client/find_bound.h"
#include "client/report_search.h"
#include "client/search/search_binding.h"
#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "client/search/search_load.h"
#include "client/search/search_names.h"
#include "measure/latency.h"

/* A load: a number and its unit. */
enum { LOAD_TEXT_BYTES = 2 * UNITS_TEXT_BYTES };

/* "12,345 q/s" */
static const char *load_text(char *text, const struct client_find *f, double load)
{
    const bool is_one_connection = f->settings->what == CLIENT_FIND_CONNECTIONS && load == 1;
    const char *unit = is_one_connection ? "connection" : report_search_unit(f);
    char count[UNITS_TEXT_BYTES];

    snprintf(text, LOAD_TEXT_BYTES, "%s %s", report_search_load(count, load), unit);
    return text;
}

static void print_answer(FILE *out, const struct client_find *f)
{
    const struct search *s = &f->search;
    char a[LOAD_TEXT_BYTES], b[LOAD_TEXT_BYTES], c[LOAD_TEXT_BYTES];
    double lower, upper;

    search_bounds(s, &lower, &upper);
    fputs("Capacity     ", out);
    if (s->status == SEARCH_FOUND)
        fprintf(out, "%s: %s sustained, %s not (%.1f %% apart)",
                load_text(a, f, search_capacity(s)), load_text(b, f, lower), load_text(c, f, upper),
                100 * (1 - lower / upper));
    else if (s->status == SEARCH_AT_LEAST)
        fprintf(out, "at least %s%s", load_text(a, f, lower),
                s->descended_to > 0 ? ": no higher load was confirmed" : ", the end of the range");
    else if (s->status == SEARCH_LESS_THAN)
        fprintf(out, "less than %s, the lowest load tried", load_text(a, f, upper));
    else
        fputs("INCONCLUSIVE", out);
    fputc('\n', out);
}

/* For an answer that was confirmed before the bounds were narrow enough, or before all of their
 * trials were done. */
static void print_why_out_of_time(FILE *out, const struct search *s)
{
    const bool is_end_of_range = s->status == SEARCH_AT_LEAST && s->descended_to == 0;
    double lower, upper;

    if (s->status != SEARCH_FOUND && !is_end_of_range)
        return;
    search_bounds(s, &lower, &upper);
    if (upper > 0 && 1 - lower / upper > s->config.width + 1e-9 &&
        search_load_middle(&s->config, lower, upper) > 0)
        fprintf(out,
                "             time ran out before the bounds were within %.3g %%; a longer "
                "--find-time narrows them\n",
                100 * s->config.width);
    else
        fprintf(out,
                "             time ran out before all trials at %s were done; a longer "
                "--find-time has room for them\n",
                upper > 0 ? "these bounds" : "this load");
}

/* The void trials were confirmations. */
static void print_why_void(FILE *out, const struct client_find *f)
{
    const double load = f->search.void_load;
    const struct trial_judgment *why = search_binding(&f->search, load, TRIAL_VOID);
    char text[LOAD_TEXT_BYTES];

    fprintf(out, "             not narrowed further: the trials at %s stayed void (%s)\n",
            load_text(text, f, load), trial_reason_name(&f->settings->slo, why->reason, why->goal));
}

/* Why a search with an answer ended early. */
static void print_why_cut(FILE *out, const struct client_find *f)
{
    const enum search_reason cut_by = report_search_cut_by(f);

    if (cut_by == SEARCH_TIME)
        print_why_out_of_time(out, &f->search);
    else if (cut_by == SEARCH_VOID)
        print_why_void(out, f);
    else if (cut_by == SEARCH_STOPPED)
        fputs("             not narrowed further: stopped by a signal or through --control\n", out);
    else if (cut_by == SEARCH_SERVER_GONE)
        fputs("             after this was confirmed, the server stopped answering (see the "
              "limiting factors)\n",
              out);
}

bool report_search_text_needs_smaller_min(const struct client_find *f)
{
    const struct search *s = &f->search;

    return s->reason == SEARCH_UNCONFIRMED &&
           search_confirm_load(s, s->config.min, SEARCH_MOST_TRIALS) == 0;
}

void report_search_text_why(FILE *out, const struct client_find *f)
{
    const struct search *s = &f->search;
    const char *binding = report_search_binding(f);
    struct client_find_evidence e;
    char a[LOAD_TEXT_BYTES];

    if (client_find_lacks_connections(f))
        fprintf(out,
                "connections were missing before the trials at %s (see the connection outcomes)",
                load_text(a, f, s->void_load));
    else if (client_find_bound(f, &e) == CLIENT_FIND_BY_IN_PROGRESS)
        fprintf(out, "the --max-connections limit was reached at %s: raise it",
                load_text(a, f, s->void_load));
    else if (s->reason == SEARCH_VOID)
        fprintf(out, "this host, not the server, was the limit at %s: %s (see docs/capacity.md)",
                load_text(a, f, s->void_load), binding);
    else if (s->reason == SEARCH_TIME)
        fprintf(out, "not enough time was left for another trial: use a longer --find-time%s",
                f->settings->what == CLIENT_FIND_CONNECTIONS ? ", or a higher --connect-rate" : "");
    else if (s->reason == SEARCH_UNCONFIRMED)
        fprintf(out, "short trials were good, but no long one confirmed them%s",
                report_search_text_needs_smaller_min(f)
                    ? ", down to the start of the range: use a smaller MIN in --find-range"
                    : ": use a longer --find-time");
    else if (s->reason == SEARCH_TOO_MANY)
        fprintf(out, "no answer after %u trials: use a larger --find-width", SEARCH_MOST_TRIALS);
    else if (s->reason == SEARCH_UNCONNECTED)
        fputs("no connection became usable (see the connection outcomes)", out);
    else if (s->reason == SEARCH_SERVER_GONE)
        fputs("the server does not answer (see the limiting factors)", out);
    else if (f->begin_ns == 0)
        fputs("the run ended before the search began", out);
    else
        fputs("stopped by a signal or through --control", out);
}

static void print_why_inconclusive(FILE *out, const struct client_find *f)
{
    const struct search *s = &f->search;
    char a[LOAD_TEXT_BYTES], b[LOAD_TEXT_BYTES];
    double lower, upper;

    if (s->status != SEARCH_INCONCLUSIVE)
        return;
    fputs("             ", out);
    report_search_text_why(out, f);
    search_bounds(s, &lower, &upper);
    if (lower > 0)
        fprintf(out, "; so far %s sustained", load_text(a, f, lower));
    if (upper > 0)
        fprintf(out, "%s %s not sustained", lower > 0 ? "," : "; so far", load_text(b, f, upper));
    fputc('\n', out);
}

/* Prints nothing if all that is known is that this host, or the server, was the limit. */
static void print_bound(FILE *out, const struct client_find *f)
{
    struct client_find_evidence e;
    char n[UNITS_TEXT_BYTES];

    switch (client_find_bound(f, &e)) {
    case CLIENT_FIND_BY_PORTS:
    case CLIENT_FIND_BY_OPENING:
        fprintf(out,
                "             %s %s could not be opened on this host (see the connection outcomes)",
                units_format_count(n, e.n_not_opened),
                units_noun(e.n_not_opened, "connection", "connections"));
        break;
    case CLIENT_FIND_BY_IN_PROGRESS:
        fprintf(out,
                "             %s %s not opened because the --max-connections limit was reached",
                units_format_count(n, e.n_not_begun),
                units_noun(e.n_not_begun, "connection was", "connections were"));
        break;
    case CLIENT_FIND_BY_ACCEPTS:
        fprintf(out, "             the accept queue overflowed %s %s",
                units_format_count(n, e.overflows), units_noun(e.overflows, "time", "times"));
        break;
    case CLIENT_FIND_BY_LOST_SYNS:
        fprintf(out, "             %s %s retransmitted", units_format_count(n, e.syn_retransmits),
                units_noun(e.syn_retransmits, "SYN was", "SYNs were"));
        break;
    case CLIENT_FIND_UNLIMITED:
    case CLIENT_FIND_BY_CLIENT:
    case CLIENT_FIND_BY_SERVER:
        return;
    }
    fprintf(out, " in the %s trials at that load\n",
            f->search.reason == SEARCH_VOID ? "void" : "bad");
}

static void print_level(FILE *out, const struct client_find *f)
{
    const struct slo *slo = &f->settings->slo;
    const char *binding = report_search_binding(f);

    fputs("             service level ", out);
    for (unsigned i = 0; i < slo->n; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", slo->goals[i].text);
    if (binding != NULL && f->search.reason != SEARCH_VOID)
        fprintf(out, "; limited by %s", binding);
    fputc('\n', out);
    print_bound(out, f);
}

/* A full handshake costs the server a signature, a resumed one none. */
static void print_handshakes(FILE *out, const struct client_find *f)
{
    uint64_t full, resumed;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (f->settings->what == CLIENT_FIND_CONNECT_RATE && client_find_handshakes(f, &full, &resumed))
        fprintf(out, "             TLS handshakes at the lower bound: %s full, %s resumed\n",
                units_format_count(a, full), units_format_count(b, resumed));
}

/* How long it was measured, as tcpreport writes it: "0 s" of one that did not begin. */
static const char *length_text(char *text, const struct search_trial *t)
{
    return t->measured_ns > 0 ? units_format_duration(text, t->measured_ns) : "0 s";
}

/* A load that the other confirmations outvoted is not confirmed. */
static const char *confirmation_text(const struct client_find *f, const struct search_trial *t)
{
    if (t->judgment.class != TRIAL_GOOD)
        return report_search_reason(f, t);
    return search_confirm_succeeded(&f->search, t->order.load) ? "confirmed" : "good";
}

static void print_confirmation(FILE *out, const struct client_find *f)
{
    const struct search *s = &f->search;
    char a[LOAD_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    for (size_t i = 0; i < s->n; i++)
        if (s->trials[i].order.step == SEARCH_CONFIRM)
            fprintf(out, "             %s at %s: %s\n", length_text(b, &s->trials[i]),
                    load_text(a, f, s->trials[i].order.load), confirmation_text(f, &s->trials[i]));
    if (!s->recovery_known && s->status == SEARCH_FOUND && s->config.tries_recovery)
        fputs("             recovery from an overload not measured\n", out);
    if (!s->recovery_known)
        return;
    if (s->recovery_ns == SEARCH_NEVER)
        fputs("             does not recover from an overload in time\n", out);
    else
        fprintf(out, "             recovers from an overload within %.0f s\n",
                (double)s->recovery_ns / 1e9 + 1);
}

enum { TIME_BYTES = UNITS_TEXT_BYTES + 1 };

/* ">5.00 s" among the unanswered queries. */
static const char *time_text(char text[TIME_BYTES], const struct client_find *f, uint64_t ns)
{
    char timeout[UNITS_TEXT_BYTES];

    if (ns == LATENCY_UNKNOWN)
        return "-";
    if (ns != HIST_BEYOND)
        return units_format_duration(text, ns);
    snprintf(text, TIME_BYTES, ">%s", units_format_duration(timeout, f->config->timeout_ns));
    return text;
}

static void print_trial(FILE *out, const struct client_find *f, size_t i)
{
    const struct search_trial *t = &f->search.trials[i];
    const struct client_find_trial *seen = &f->trials[i];
    const char *reason = report_search_reason(f, t);
    char load[LOAD_TEXT_BYTES], length[UNITS_TEXT_BYTES], p50[TIME_BYTES], p99[TIME_BYTES],
        lost[UNITS_TEXT_BYTES];

    fprintf(out, "  %-8s %24s %8s %10s %10s %10s  %s%s%s%s\n", search_step_name(t->order.step),
            load_text(load, f, t->order.load), length_text(length, t),
            report_search_is_judged(t) ? time_text(p50, f, seen->p50_ns) : "-",
            report_search_is_judged(t) ? time_text(p99, f, seen->p99_ns) : "-",
            report_search_is_judged(t) ? units_format_count(lost, seen->n_lost) : "-",
            report_search_is_judged(t) ? trial_class_name(t->judgment.class) : "",
            reason != NULL ? ": " : "", reason != NULL ? reason : "",
            seen->drained ? "" : " (not drained)");
}

void report_search_text(FILE *out, const struct client_find *find)
{
    size_t n_void = 0;

    if (find == NULL)
        return;
    for (size_t i = 0; i < find->search.n; i++)
        n_void += report_search_is_judged(&find->search.trials[i]) &&
                  find->search.trials[i].judgment.class == TRIAL_VOID;
    print_answer(out, find);
    print_why_cut(out, find);
    print_why_inconclusive(out, find);
    print_level(out, find);
    print_handshakes(out, find);
    print_confirmation(out, find);
    fprintf(out, "             %zu %s in %.0f s, %zu void\n", find->search.n,
            units_noun(find->search.n, "trial", "trials"), (double)find->elapsed_ns / 1e9, n_void);
    if (find->search.n == 0)
        return;
    fprintf(out, "\n  %-8s %24s %8s %10s %10s %10s\n", "trial", "load", "length", "p50", "p99",
            "lost");
    for (size_t i = 0; i < find->search.n; i++)
        print_trial(out, find, i);
}
