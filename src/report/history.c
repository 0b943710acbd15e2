/* SPDX-License-Identifier: MIT
 * history: see report/history.h. */
#include "report/history.h"

#include "base/units.h"
#include "measure/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double history_row_s(unsigned row)
{
    return pow(10, (double)row / HISTORY_ROWS_PER_DECADE) / UNITS_NS_PER_S;
}

static unsigned row_of(uint64_t ns)
{
    const double row = log10((double)ns) * HISTORY_ROWS_PER_DECADE;

    return row < 0 ? 0 : row >= HISTORY_ROWS ? HISTORY_ROWS - 1 : (unsigned)row;
}

/* Writes the response times of a column. */
static void put_times(struct history *history, struct history_column *c, const struct hist *h)
{
    c->n_answered = h->count;
    c->p50_ns = latency_percentile_ns(h, 1, 2);
    c->p99_ns = latency_percentile_ns(h, 99, 100);
    c->max_ns = h->count > 0 ? h->max_ns : LATENCY_UNKNOWN;
    for (uint32_t i = 0; h->count > 0 && i <= hist_index(h->max_ns); i++) {
        const unsigned row = row_of(hist_value_of(h, i));

        if (h->counts[i] == 0)
            continue;
        c->counts[row] += h->counts[i];
        if (c->counts[row] > history->most)
            history->most = c->counts[row];
        if (row < history->first_row)
            history->first_row = row;
        if (row >= history->end_rows)
            history->end_rows = row + 1;
    }
}

/* Extends a column by the time that an interval covers. */
static void cover(struct history_column *c, const struct timeline_entry *e, uint64_t first_ns)
{
    const double begin_s = (double)(e->begin_ns - first_ns) / UNITS_NS_PER_S;
    const double end_s = begin_s + (double)e->length_ns / UNITS_NS_PER_S;
    const double c_end_s = c->begin_s + c->length_s;

    if (c->length_s <= 0 || begin_s < c->begin_s)
        c->begin_s = begin_s;
    c->length_s = (c->length_s > 0 && c_end_s > end_s ? c_end_s : end_s) - c->begin_s;
}

/* sum: scratch, for the response times of the column being filled; one: scratch. */
static int fill(struct history *h, const struct timeline *t, struct hist *sum, struct hist *one)
{
    const uint64_t first_ns = timeline_first_ns(t);
    struct timeline_entry e;
    size_t at = 0, filling = 0;
    int status;

    while ((status = timeline_next(t, &at, &e, one)) > 0) {
        const size_t i = (size_t)((double)e.second / h->column_s);

        if (i != filling) {
            put_times(h, &h->columns[filling], sum);
            hist_reset(sum);
            filling = i;
        }
        cover(&h->columns[i], &e, first_ns);
        if (e.tag[0] == '\0')
            hist_merge(sum, one);
        else if (strcmp(e.tag, "send_lag") == 0)
            h->columns[i].n_sent += one->count;
    }
    put_times(h, &h->columns[filling], sum);
    return status;
}

int history_make(struct history *h, const struct timeline *t)
{
    uint64_t n_seconds, step;
    struct hist sum = {0}, one = {0};
    int status;

    *h = (struct history){.first_row = HISTORY_ROWS};
    if (t->n == 0)
        return 0;
    n_seconds = t->entries[t->n - 1].second + 1;
    step = (n_seconds + HISTORY_MOST_COLUMNS - 1) / HISTORY_MOST_COLUMNS;
    h->column_s = (double)step;
    h->n = (size_t)((n_seconds + step - 1) / step);
    h->columns = calloc(h->n, sizeof *h->columns);
    if (h->columns == NULL)
        return -1;
    for (size_t i = 0; i < h->n; i++) {
        struct history_column *c = &h->columns[i];

        c->begin_s = (double)i * h->column_s;
        c->p50_ns = c->p99_ns = c->max_ns = LATENCY_UNKNOWN;
    }
    status = hist_init(&sum) | hist_init(&one);
    if (status == 0)
        status = fill(h, t, &sum, &one);
    hist_free(&sum);
    hist_free(&one);
    return status;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / UNITS_NS_PER_S : 0;
}

void history_set_measurement(struct history *h, const struct timeline *t, uint64_t begin_ns,
                             uint64_t end_ns)
{
    const uint64_t first_ns = timeline_first_ns(t);
    const double from_s = seconds_between(first_ns, begin_ns);

    if (h->n == 0 || from_s >= h->columns[0].begin_s + h->columns[0].length_s)
        return;
    h->from_s = from_s;
    h->to_s = seconds_between(first_ns, end_ns);
}

void history_free(struct history *h)
{
    free(h->columns);
    *h = (struct history){0};
}
