/* SPDX-License-Identifier: MIT
 * slo: see client/search/slo.h. */
#include "client/search/slo.h"

#include "base/units.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MILLION       1000000u
#define MOST_LIMIT_NS (3600 * UNITS_NS_PER_S) /* 1 h: a trial lasts ten times as long */

static const struct {
    const char *name;
    uint64_t share_ppm;
} percentiles[] = {{"p50", 500000}, {"p90", 100000}, {"p99", 10000}, {"p999", 1000}, {"max", 0}};

static const struct {
    const char *prefix;
    enum slo_metric metric;
} prefixes[] = {{"service.", SLO_SERVICE}, {"connect.", SLO_CONNECT}, {"", SLO_RESPONSE}};

#define N(table)    (sizeof(table) / sizeof *(table))
#define REFUSE(...) (snprintf(error, SLO_ERROR_BYTES, __VA_ARGS__), -1)

#define EXPECTED "p50, p90, p99, p999 or max, alone or after 'service.' or 'connect.', or lost"

/* "service.p99" */
static int parse_name(struct slo_goal *goal, const char *name)
{
    for (size_t i = 0; i < N(prefixes); i++) {
        const size_t n_bytes = strlen(prefixes[i].prefix);

        if (strncmp(name, prefixes[i].prefix, n_bytes) != 0)
            continue;
        for (size_t p = 0; p < N(percentiles); p++)
            if (strcmp(name + n_bytes, percentiles[p].name) == 0) {
                goal->metric = prefixes[i].metric;
                goal->share_ppm = percentiles[p].share_ppm;
                return 0;
            }
        return -1;
    }
    return -1;
}

static int parse_time(struct slo_goal *goal, const char *limit, char *error)
{
    if (units_parse_duration(limit, &goal->limit_ns) != 0 || goal->limit_ns == 0 ||
        goal->limit_ns > MOST_LIMIT_NS)
        return REFUSE("invalid limit in '%s': expected a time above 0 such as 10ms, at most 1h",
                      goal->text);
    return 0;
}

static int parse_lost(struct slo_goal *goal, char sign, const char *limit, char *error)
{
    double share;

    goal->metric = SLO_LOST;
    if (sign == '=' && strcmp(limit, "0") == 0)
        return 0;
    if (sign != '<' || units_parse_percent(limit, &share) != 0 || share < 1e-6 || share >= 1)
        return REFUSE("invalid limit in '%s': expected lost=0 or lost<PERCENT%%, from 0.0001%% to "
                      "below 100%%",
                      goal->text);
    goal->share_ppm = (uint64_t)(share * MILLION + 0.5);
    return 0;
}

/* goal->text is set. */
static int parse_goal(struct slo_goal *goal, char *error)
{
    const size_t n_name = strcspn(goal->text, "<=");
    const char sign = goal->text[n_name], *limit = goal->text + n_name + 1;
    char name[SLO_TEXT_BYTES];

    if (sign == '\0')
        return REFUSE("invalid goal '%s': expected METRIC<LIMIT, e.g. p99<10ms", goal->text);
    memcpy(name, goal->text, n_name);
    name[n_name] = '\0';
    if (strcmp(name, "lost") == 0)
        return parse_lost(goal, sign, limit, error);
    if (parse_name(goal, name) != 0)
        return REFUSE("invalid metric in '%s': expected " EXPECTED, goal->text);
    if (sign != '<')
        return REFUSE("invalid goal '%s': expected '<' before the time", goal->text);
    return parse_time(goal, limit, error);
}

static int refuse_repeated(const struct slo *slo, const struct slo_goal *goal, char *error)
{
    for (unsigned i = 0; i < slo->n; i++)
        if (slo->goals[i].metric == goal->metric &&
            (goal->metric == SLO_LOST || slo->goals[i].share_ppm == goal->share_ppm))
            return REFUSE("'%s' conflicts with '%s': give only one", goal->text,
                          slo->goals[i].text);
    return 0;
}

int slo_parse(struct slo *slo, const char *text, char *error)
{
    *slo = (struct slo){0};
    for (;;) {
        const size_t n_bytes = strcspn(text, ",");
        struct slo_goal goal = {0};

        if (n_bytes >= sizeof goal.text)
            return REFUSE("invalid goal '%.*s...': expected METRIC<LIMIT, e.g. p99<10ms",
                          SLO_TEXT_BYTES - 1, text);
        memcpy(goal.text, text, n_bytes);
        if (parse_goal(&goal, error) != 0 || refuse_repeated(slo, &goal, error) != 0)
            return -1;
        slo->goals[slo->n++] = goal;
        if (text[n_bytes] == '\0')
            return 0;
        text += n_bytes + 1;
    }
}

bool slo_is_met(const struct slo_goal *goal, uint64_t n_exceeding, uint64_t n)
{
    const uint64_t allowed = n * goal->share_ppm;

    if (goal->metric == SLO_LOST && goal->share_ppm > 0)
        return n_exceeding * MILLION < allowed;
    return n_exceeding * MILLION <= allowed;
}

uint64_t slo_values_needed(const struct slo_goal *goal)
{
    return goal->share_ppm > 0 ? (10ull * MILLION + goal->share_ppm - 1) / goal->share_ppm : 1;
}

/* Queries for a goal that allows no losses; a short trial has a tenth of them.  With fewer, it
 * often has none, or a single one that this host delays voids it. */
enum { LEAST_QUERIES = 100 };

static uint64_t queries_needed(const struct slo_goal *goal)
{
    const uint64_t n_exceeding = goal->metric == SLO_LOST ? 10 : goal->share_ppm < 10000 ? 30 : 100;

    return goal->share_ppm > 0 ? n_exceeding * MILLION / goal->share_ppm : LEAST_QUERIES;
}

uint64_t slo_queries_needed(const struct slo *slo)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < slo->n; i++)
        if (queries_needed(&slo->goals[i]) > most)
            most = queries_needed(&slo->goals[i]);
    return most;
}

uint64_t slo_longest_limit_ns(const struct slo *slo)
{
    uint64_t longest_ns = 0;

    for (unsigned i = 0; i < slo->n; i++)
        if (slo->goals[i].limit_ns > longest_ns)
            longest_ns = slo->goals[i].limit_ns;
    return longest_ns;
}

bool slo_has(const struct slo *slo, enum slo_metric metric)
{
    for (unsigned i = 0; i < slo->n; i++)
        if (slo->goals[i].metric == metric)
            return true;
    return false;
}
