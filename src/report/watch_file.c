/* SPDX-License-Identifier: MIT
 * watch_file: see report/watch_file.h. */
#include "report/watch_file.h"

#include "base/json.h"
#include "base/log.h"
#include "base/text_stream.h"
#include "base/textfile.h"
#include "base/units.h"
#include "measure/server_cost_report.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/server_cost_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20, MOST_ROWS = 200 };

/* Samples this long before and after the run belong to it, too. */
#define MARGIN_NS (1500 * UNITS_NS_PER_MS)

/* --- file --- */

/* Returns the file's JSON value, to be freed; NULL after one line on stderr. */
static struct json_object *load(const char *path)
{
    char error[RESULT_ERROR_BYTES];
    size_t n_bytes;
    char *text = textfile_read(path, MOST_BYTES, &n_bytes);
    struct json_object *file;

    if (text == NULL) {
        log_error("--watch: %s: cannot read: %s", path, strerror(errno));
        return NULL;
    }
    file = result_parse_any(text, n_bytes, error);
    free(text);
    if (file == NULL)
        log_error("--watch: %s: %s", path, error);
    return file;
}

/* --- run --- */

struct run {
    uint64_t started_ns, begin_ns, end_ns; /* of the program and the measurement, since the epoch */
    uint64_t queries;                      /* WATCH_UNKNOWN: none */
};

static struct run run_of(const struct json_object *result)
{
    struct run run = {.queries = WATCH_UNKNOWN};
    uint64_t n_discarded = 0; /* at the start of trials, and in overloads */

    (void)result_u64(result, "queries.sent", &run.queries);
    if (result_is_search(result) && run.queries != WATCH_UNKNOWN &&
        result_u64(result, "warmup.sent", &n_discarded))
        run.queries += n_discarded;
    result_span(result, &run.begin_ns, &run.end_ns);
    run.started_ns = result_time_ns(result, "started");
    return run;
}

/* Whether the samples (at least one) last until the end of the run. */
static bool is_complete(const struct watch_series *s, const struct run *run)
{
    return s->items[s->n - 1].at[WATCH_EPOCH_NS] + MARGIN_NS >= run->end_ns;
}

/* Reads the samples from the time of the run.  Highest values cover all of them, even if the series
 * has no room for all.  Returns 0, or -1 after one line on stderr. */
static int read_samples(struct watch_series *series, const struct json_object *file,
                        const char *path, const struct run *run)
{
    const uint64_t from_ns = run->started_ns > MARGIN_NS ? run->started_ns - MARGIN_NS : 0;

    if (result_string(file, "watched") == NULL ||
        server_cost_read_samples(series, file, from_ns, run->end_ns + MARGIN_NS) != 0)
        return log_error("--watch: %s: expected a file of tcpreport watch --json", path);
    return 0;
}

static void add_queries(struct watch_series *s, const struct run *run)
{
    const double duration_ns = (double)(run->end_ns - run->begin_ns);

    for (size_t i = 0; i < s->n && run->queries != WATCH_UNKNOWN && duration_ns > 0; i++) {
        const double since_ns = (double)s->items[i].at[WATCH_EPOCH_NS] - (double)run->begin_ns;
        const double part = since_ns < 0 ? 0 : since_ns > duration_ns ? 1 : since_ns / duration_ns;

        s->items[i].at[WATCH_QUERIES] = (uint64_t)(part * (double)run->queries + 0.5);
    }
}

/* --- join --- */

/* Why the file ends matters only if that was before the end of the run. */
static void read_end(struct server_cost *c, bool is_complete)
{
    if (is_complete)
        c->end[0] = '\0';
    else if (c->end[0] == '\0')
        snprintf(c->end, sizeof c->end, "watching was stopped");
}

/* Returns the object server_cost, to be freed; NULL: out of memory. */
static struct json_object *cost_of(const struct json_object *file, const struct watch_series *s,
                                   const struct run *run)
{
    char error[RESULT_ERROR_BYTES], *text;
    struct json_object *cost = NULL;
    struct server_cost c;
    struct text_stream t;
    struct json j;
    size_t n_bytes;

    if (text_stream_open(&t) != 0)
        return NULL;
    (void)server_cost_read(&c, file);
    read_end(&c, is_complete(s, run));
    server_cost_compute(&c, s, run->begin_ns, run->end_ns);
    json_init(&j, t.out);
    server_cost_report_json(&j, NULL, &c, s, MOST_ROWS);
    text = text_stream_close(&t, &n_bytes);
    if (text != NULL)
        cost = result_parse_any(text, n_bytes, error);
    free(text);
    return cost;
}

int watch_file_join(struct json_object *result, const char *path)
{
    struct watch_series series = {0};
    struct json_object *file = load(path), *cost;
    const struct run run = run_of(result);
    int failed = file == NULL || read_samples(&series, file, path, &run) != 0;

    if (!failed && result_time_ns(result, "measured_from") == 0)
        failed = log_error("--watch: the result does not say when its measurement began");
    if (!failed && series.n == 0)
        failed = log_error("--watch: %s: no samples from the time of the run", path);
    if (!failed) {
        add_queries(&series, &run);
        cost = cost_of(file, &series, &run);
        if (cost == NULL || result_set(result, "server_cost", cost) != 0) {
            result_free(cost);
            failed = log_error("out of memory");
        }
    }
    watch_series_free(&series);
    result_free(file);
    return failed ? -1 : 0;
}
