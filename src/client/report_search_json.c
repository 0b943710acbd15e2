/* SPDX-License-Identifier: MIT
 * report_search_json: see client/report_search_json.h. */
#include "client/report_search_json.h"

#include "client/find_bound.h"
#include "client/report_search.h"
#include "client/search/search_bounds.h"
#include "client/search/search_names.h"
#include "config/options_value.h"
#include "measure/latency.h"

#include <math.h>

static void put_load(struct json *j, const char *key, double load)
{
    json_double(j, key, load > 0 ? load : NAN);
}

static void put_time(struct json *j, const char *key, uint64_t ns)
{
    json_known_u64(j, key, ns == LATENCY_UNKNOWN || ns == HIST_BEYOND ? UINT64_MAX : ns);
}

static void put_settings(struct json *j, const struct client_find *f)
{
    const struct client_find_settings *s = f->settings;
    char what[16];

    json_string(j, "find", options_choice(CLIENT_FINDS, s->what, what, sizeof what));
    json_string(j, "unit", report_search_unit(f));
    json_array_begin(j, "slo");
    for (unsigned i = 0; i < s->slo.n; i++)
        json_string(j, NULL, s->slo.goals[i].text);
    json_array_end(j);
    json_double(j, "min", s->min);
    json_double(j, "max", s->max);
    json_double(j, "width", s->width);
    json_double(j, "time_s", (double)s->time_ns / 1e9);
}

static void put_answer(struct json *j, const struct client_find *f)
{
    const struct search *s = &f->search;
    double lower, upper;

    search_bounds(s, &lower, &upper);
    json_string(j, "status", search_status_name(s->status));
    json_string(j, "reason", search_reason_name(s->reason));
    json_string(j, "cut_by", search_reason_name(report_search_cut_by(f)));
    put_load(j, "capacity", search_capacity(s));
    put_load(j, "lower", lower);
    put_load(j, "upper", upper);
    json_string(j, "limited_by", report_search_binding(f));
    json_string(j, "bound_by", client_find_bound_name(f));
    json_bool(j, "confirmed", s->confirmed);
    if (s->recovery_known)
        json_bool(j, "recovers", s->recovery_ns != SEARCH_NEVER);
    else
        json_null(j, "recovers");
    json_double(j, "recovery_s",
                s->recovery_known && s->recovery_ns != SEARCH_NEVER ? (double)s->recovery_ns / 1e9
                                                                    : NAN);
    json_double(j, "elapsed_s", (double)f->elapsed_ns / 1e9);
}

/* Nothing is counted in an overload. */
static void put_count(struct json *j, const char *key, const struct search_trial *t, uint64_t n)
{
    json_known_u64(j, key, report_search_is_judged(t) ? n : UINT64_MAX);
}

static void put_queries(struct json *j, const struct client_find *f, const struct search_trial *t,
                        const struct client_find_trial *seen)
{
    put_count(j, "scheduled", t, seen->figures.n_due);
    put_count(j, "lost", t, seen->n_lost);
    json_array_begin(j, "exceeding");
    for (unsigned i = 0; i < f->settings->slo.n; i++)
        put_count(j, NULL, t, seen->figures.goals[i].n);
    json_array_end(j);
    put_count(j, "behind", t, seen->figures.n_behind);
    if (report_search_is_judged(t))
        json_bool(j, "grew", seen->figures.grew);
    else
        json_null(j, "grew");
}

static void put_trial(struct json *j, const struct client_find *f, size_t i)
{
    const struct search_trial *t = &f->search.trials[i];
    const struct client_find_trial *seen = &f->trials[i];

    json_object_begin(j, NULL);
    json_string(j, "step", search_step_name(t->order.step));
    json_double(j, "load", t->order.load);
    json_double(j, "begin_s", (double)seen->begin_ns / 1e9);
    json_double(j, "duration_s", (double)t->measured_ns / 1e9);
    json_bool(j, "ended_early",
              t->measured_ns < t->order.duration_ns && t->judgment.reason != TRIAL_CONNECTIONS);
    json_string(j, "class",
                report_search_is_judged(t) ? trial_class_name(t->judgment.class) : NULL);
    json_string(j, "reason", report_search_reason(f, t));
    put_queries(j, f, t, seen);
    put_time(j, "p50_ns", seen->p50_ns);
    put_time(j, "p99_ns", seen->p99_ns);
    put_time(j, "connect_p99_ns", seen->connect_p99_ns);
    put_count(j, "syn_retransmits", t, seen->syn_retransmits);
    put_count(j, "listen_overflows", t, seen->overflows);
    put_count(j, "not_opened", t, seen->figures.n_not_opened);
    put_count(j, "handshakes", t, seen->handshakes);
    put_count(j, "resumed", t, seen->resumed);
    json_u64(j, "live", seen->live);
    json_bool(j, "drained", seen->drained);
    json_object_end(j);
}

void report_search_json(struct json *j, const struct client_find *find)
{
    if (find == NULL) {
        json_null(j, "search");
        return;
    }
    json_object_begin(j, "search");
    put_settings(j, find);
    put_answer(j, find);
    json_array_begin(j, "trials");
    for (size_t i = 0; i < find->search.n; i++)
        put_trial(j, find, i);
    json_array_end(j);
    json_object_end(j);
}
