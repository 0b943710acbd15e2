/* SPDX-License-Identifier: MIT
 * openmetrics: see measure/openmetrics.h. */
#include "measure/openmetrics.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct bound {
    uint64_t ns;
    const char *text; /* in seconds */
} bounds[] = {
    {10000, "1e-05"},    {20000, "2e-05"},    {50000, "5e-05"},      {100000, "0.0001"},
    {200000, "0.0002"},  {500000, "0.0005"},  {1000000, "0.001"},    {2000000, "0.002"},
    {5000000, "0.005"},  {10000000, "0.01"},  {20000000, "0.02"},    {50000000, "0.05"},
    {100000000, "0.1"},  {200000000, "0.2"},  {500000000, "0.5"},    {1000000000, "1.0"},
    {2000000000, "2.0"}, {5000000000, "5.0"}, {10000000000, "10.0"},
};

enum { N_BOUNDS = sizeof bounds / sizeof *bounds };

void openmetrics_init(struct openmetrics *m, FILE *out, const char *accept)
{
    *m = (struct openmetrics){
        .out = out,
        .older = accept == NULL || strstr(accept, "application/openmetrics-text") == NULL,
    };
}

const char *openmetrics_content_type(const struct openmetrics *m)
{
    return m->older ? OPENMETRICS_TEXT : OPENMETRICS_TYPE;
}

void openmetrics_family(struct openmetrics *m, enum openmetrics_kind kind, const char *name,
                        const char *help)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *suffix = m->older && kind == OPENMETRICS_COUNTER ? "_total" : "";

    m->family = name;
    m->kind = kind;
    fprintf(m->out, "# TYPE %s%s %s\n", name, suffix, kinds[kind]);
    fprintf(m->out, "# HELP %s%s %s\n", name, suffix, help);
}

static const char *sample_suffix(const struct openmetrics *m)
{
    return m->kind == OPENMETRICS_COUNTER ? "_total" : "";
}

void openmetrics_u64(struct openmetrics *m, const char *label, const char *value_of_label,
                     uint64_t value)
{
    if (value == UINT64_MAX)
        return;
    fprintf(m->out, "%s%s", m->family, sample_suffix(m));
    if (label != NULL)
        fprintf(m->out, "{%s=\"%s\"}", label, value_of_label);
    fprintf(m->out, " %" PRIu64 "\n", value);
}

void openmetrics_double(struct openmetrics *m, double value)
{
    fprintf(m->out, "%s%s %.9g\n", m->family, sample_suffix(m), value);
}

void openmetrics_seconds(struct openmetrics *m, uint64_t ns)
{
    const uint64_t seconds = ns / UNITS_NS_PER_S, rest_ns = ns % UNITS_NS_PER_S;

    fprintf(m->out, "%s%s %" PRIu64 ".%09" PRIu64 "\n", m->family, sample_suffix(m), seconds,
            rest_ns);
}

void openmetrics_counter(struct openmetrics *m, const char *name, const char *help, uint64_t value)
{
    openmetrics_family(m, OPENMETRICS_COUNTER, name, help);
    openmetrics_u64(m, NULL, NULL, value);
}

void openmetrics_gauge(struct openmetrics *m, const char *name, const char *help, uint64_t value)
{
    openmetrics_family(m, OPENMETRICS_GAUGE, name, help);
    openmetrics_u64(m, NULL, NULL, value);
}

void openmetrics_hist(struct openmetrics *m, const char *name, const char *help,
                      const struct hist *h)
{
    uint64_t n = 0;
    uint32_t index = 0;

    openmetrics_family(m, OPENMETRICS_HISTOGRAM, name, help);
    for (int i = 0; i < N_BOUNDS; i++) {
        while (index < HIST_COUNTS && hist_highest_of(index) <= bounds[i].ns)
            n += h->counts[index++];
        fprintf(m->out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name, bounds[i].text, n);
    }
    fprintf(m->out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, h->count + h->beyond);
    fprintf(m->out, "%s_count %" PRIu64 "\n", name, h->count + h->beyond);
    fprintf(m->out, "%s_sum %.9g\n", name, (double)hist_total(h->sum_ns) / (double)UNITS_NS_PER_S);
}

void openmetrics_end(struct openmetrics *m)
{
    if (!m->older)
        fputs("# EOF\n", m->out);
}

/* --- reading --- */

/* Returns the value in a line "name value" or "name{labels} value", whose label values have no '}';
 * NULL if the line is another one. */
static const char *value_in(const char *line, const char *name)
{
    const size_t n_name = strlen(name);
    const char *end = strchrnul(line, '\n'), *at = line + n_name;

    if (strncmp(line, name, n_name) != 0)
        return NULL;
    if (*at == '{') {
        while (at < end && *at != '}')
            at++;
        at += at < end;
    }
    if (*at != ' ')
        return NULL;
    at += strspn(at, " ");
    return *at >= '0' && *at <= '9' ? at : NULL;
}

static int read_count(const char *line, const char *name, uint64_t *count)
{
    const char *at = value_in(line, name);
    char *rest;

    if (at == NULL)
        return -1;
    *count = strtoull(at, &rest, 10);
    return *rest == '\n' || *rest == '\0' || *rest == ' ' ? 0 : -1;
}

static const char *next_line(const char *text)
{
    const char *end = strchrnul(text, '\n');

    return end + (*end == '\n');
}

int openmetrics_sum(const char *text, const char *name, uint64_t *sum)
{
    uint64_t value, all = 0;
    int found = -1;

    for (; *text != '\0'; text = next_line(text))
        if (read_count(text, name, &value) == 0) {
            all += value;
            found = 0;
        }
    if (found == 0)
        *sum = all;
    return found;
}

int openmetrics_value(const char *text, const char *name, char value[OPENMETRICS_VALUE_BYTES])
{
    for (; *text != '\0'; text = next_line(text)) {
        const char *at = value_in(text, name);
        const size_t n_bytes = at != NULL ? strcspn(at, " \n") : OPENMETRICS_VALUE_BYTES;

        if (n_bytes < OPENMETRICS_VALUE_BYTES) {
            memcpy(value, at, n_bytes);
            value[n_bytes] = '\0';
            return 0;
        }
    }
    return -1;
}
