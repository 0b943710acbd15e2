/* SPDX-License-Identifier: MIT
 * figure: see report/figure.h. */
#include "report/figure.h"

#include "base/units.h"
#include "measure/latency.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A file that another program wrote may contain any figure. */
#define MOST 1e18

const char *figure_count(char *text, const struct json_object *result, const char *path)
{
    uint64_t n;

    return result_u64(result, path, &n) ? units_format_count(text, n) : NULL;
}

const char *figure_number(char *text, double value)
{
    if (!(value >= 0 && value < MOST))
        return NULL;
    if (value >= 999.95) /* "%.4g" has no separator */
        return units_format_count(text, (uint64_t)(value + 0.5));
    snprintf(text, FIGURE_TEXT_BYTES, "%.4g", value);
    return text;
}

const char *figure_value(char *text, const struct json_object *result, const char *path)
{
    double value;

    return result_double(result, path, &value) ? figure_number(text, value) : NULL;
}

const char *figure_load(char *text, const struct json_object *search, const struct json_object *of,
                        const char *path)
{
    const char *unit = result_string(search, "unit");
    char number[FIGURE_TEXT_BYTES];

    if (figure_value(number, of, path) == NULL)
        return NULL;
    if (unit != NULL && strcmp(unit, "connections") == 0 && strcmp(number, "1") == 0)
        unit = "connection";
    snprintf(text, FIGURE_TEXT_BYTES, "%.30s %.15s", number, unit != NULL ? unit : "");
    return text;
}

const char *figure_outcome(char *text, const char *key)
{
    const int n = (int)strcspn(key, "/");

    snprintf(text, FIGURE_TEXT_BYTES, "%.*s%s%s", n, key, key[n] != '\0' ? ": " : "",
             key[n] != '\0' ? &key[n + 1] : "");
    return text;
}

const char *figure_finding(char text[FIGURE_FINDING_BYTES], const char *finding, const char *reason)
{
    snprintf(text, FIGURE_FINDING_BYTES, "%.80s%s%.100s", finding, reason != NULL ? ": " : "",
             reason != NULL ? reason : "");
    return text;
}

const char *figure_per_s(char *text, double qps)
{
    char number[FIGURE_TEXT_BYTES];

    if (figure_number(number, qps) == NULL)
        return NULL;
    snprintf(text, FIGURE_TEXT_BYTES, "%.40s q/s", number);
    return text;
}

const char *figure_rate(char *text, const struct json_object *result, const char *path)
{
    double qps;

    return result_double(result, path, &qps) ? figure_per_s(text, qps) : NULL;
}

static bool is_mean_rate(const struct json_object *result, double requested_qps)
{
    double given_qps;

    if (result_double(result, "options.rate", &given_qps) && given_qps > 0)
        return requested_qps != given_qps;
    return result_is_search(result) || result_find(result, "options.schedule") != NULL ||
           result_find(result, "options.conn-schedule") != NULL ||
           result_flag(result, "options.stdin") || result_flag(result, "options.stdin-rateslope");
}

const char *figure_requested(char *text, const struct json_object *result)
{
    double qps;

    if (!result_double(result, "rate.asked_qps", &qps))
        return NULL;
    return units_format_decimal(text,
                                is_mean_rate(result, qps) && qps >= 1 ? round(qps * 10) / 10 : qps);
}

const char *figure_seconds(char *text, const struct json_object *result, const char *path)
{
    double s;

    if (!result_double(result, path, &s) || !(s >= 0 && s < 1e9))
        return NULL;
    return s > 0 ? units_format_duration(text, (uint64_t)(s * 1e9 + 0.5)) : "0 s";
}

const char *figure_bytes(char *text, const struct json_object *result, const char *path)
{
    double n;

    if (!result_double(result, path, &n) || !(n >= 0 && n < MOST))
        return NULL;
    return units_format_bytes(text, (uint64_t)(n + 0.5));
}

const char *figure_latency(char *text, uint64_t ns, uint64_t timeout_ns)
{
    char timeout[UNITS_TEXT_BYTES];

    if (ns == LATENCY_UNKNOWN)
        return NULL;
    if (ns != HIST_BEYOND)
        return units_format_duration(text, ns);
    if (timeout_ns == 0)
        return "unanswered";
    if (timeout_ns == LATENCY_NEVER)
        return "never";
    snprintf(text, FIGURE_TEXT_BYTES, ">%s", units_format_duration(timeout, timeout_ns));
    return text;
}

const char *figure_trial_latency(char *text, const struct json_object *trial, const char *path,
                                 uint32_t num, uint32_t den, uint64_t timeout_ns)
{
    struct hist queries = {0};
    uint64_t ns;

    if (result_u64(trial, path, &ns))
        return figure_latency(text, ns, timeout_ns);
    if (!result_flag(trial, "drained") || !result_u64(trial, "scheduled", &queries.count) ||
        queries.count >= (uint64_t)MOST || !hist_percentile_is_supported(&queries, num, den))
        return NULL;
    return timeout_ns > 0 ? figure_latency(text, HIST_BEYOND, timeout_ns) : ">timeout";
}

const char *figure_answer(char text[FIGURE_FINDING_BYTES], const struct json_object *search)
{
    const char *status = result_string(search, "status"), *reason = result_string(search, "reason");
    char answer[FIGURE_FINDING_BYTES];

    if (status == NULL)
        return "not reached";
    snprintf(answer, sizeof answer, "%.40s%s%.40s", status, reason != NULL ? ", " : "",
             reason != NULL ? reason : "");
    return figure_finding(text, answer, result_string(search, "limited_by"));
}

/* A name of the result, and what it means. */
struct word {
    const char *name, *meaning;
};

/* Returns what a name means; NULL: it is not among these. */
static const char *words_of(const struct word *words, size_t n, const char *name)
{
    for (size_t i = 0; name != NULL && i < n; i++)
        if (strcmp(name, words[i].name) == 0)
            return words[i].meaning;
    return NULL;
}

#define WORDS_OF(words, name) words_of(words, sizeof(words) / sizeof *(words), name)

const char *figure_reason(const struct json_object *search)
{
    static const struct word reasons[] = {
        {"void-trials", "the client's host, not the server, was the limit"},
        {"time", "not enough time was left for another trial"},
        {"unconfirmed", "short trials were good, but no long one confirmed them"},
        {"too-many-trials", "too many trials without an answer"},
        {"no-connection", "no connection became usable"},
        {"server-gone", "the server does not answer"},
    };
    const char *reason = result_string(search, "reason");
    const char *limit = result_string(search, "limited_by");
    const char *bound = result_string(search, "bound_by"), *words;
    const bool is_void = reason != NULL && strcmp(reason, "void-trials") == 0;

    if (is_void && limit != NULL && strcmp(limit, "connections") == 0)
        return "connections were missing before the trials";
    if (is_void && bound != NULL && strcmp(bound, "max-connections") == 0)
        return "connections that were due were not opened";
    words = WORDS_OF(reasons, reason);
    return words != NULL ? words : reason;
}

const char *figure_cut(const struct json_object *search)
{
    static const struct word causes[] = {
        {"time", "time ran out"},
        {"void-trials", "trials stayed void"},
        {"server-gone", "the server stopped answering after this was confirmed"},
    };
    const char *cut_by = result_string(search, "cut_by"), *words = WORDS_OF(causes, cut_by);

    return words != NULL ? words : cut_by;
}

const char *figure_bound(const struct json_object *search)
{
    static const struct word bounds[] = {
        {"accept-queue", "the accept queue overflowed"},
        {"syns-lost", "SYNs were retransmitted"},
        {"ports", "this host had no free source ports"},
        {"not-opened", "this host could not open connections"},
        {"max-connections", "the --max-connections limit was reached"},
    };

    return WORDS_OF(bounds, result_string(search, "bound_by"));
}

double figure_change(double share, int n_decimals)
{
    const double scale = pow(10, n_decimals);

    return round(100 * share * scale) / scale + 0.0; /* -0 + 0 is 0 */
}

const char *figure_answered(char *text, const struct json_object *result)
{
    uint64_t scheduled, answered;

    if (!result_u64(result, "queries.scheduled", &scheduled) || scheduled == 0 ||
        !result_u64(result, "queries.answered", &answered))
        return NULL;
    snprintf(text, FIGURE_TEXT_BYTES, "%.6g %%",
             units_percent((double)answered / (double)scheduled));
    return text;
}
