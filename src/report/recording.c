/* SPDX-License-Identifier: MIT
 * recording: see report/recording.h. */
#include "report/recording.h"

#include "base/log.h"
#include "base/text_stream.h"
#include "base/units.h"
#include "report/hlog_reader.h"
#include "report/lines.h"
#include "report/plain.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/row_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULT_MOST_MIB = 64 };

/* --- the kinds of files; the first line has been read --- */

/* A file that was cut ends within a line. */
static bool is_whole(const struct lines *l)
{
    return l->line[l->length - 1] == '\n';
}

static int read_result(struct recording *r, struct lines *l)
{
    char error[RESULT_ERROR_BYTES];
    const size_t most_bytes = (size_t)RESULT_MOST_MIB << 20;
    struct text_stream whole;
    size_t n_bytes = 0;
    char *text;

    if (text_stream_open(&whole) != 0)
        return log_error("%s: out of memory", l->path);
    do {
        fwrite(l->line, 1, l->length, whole.out);
        n_bytes += l->length;
    } while (n_bytes <= most_bytes && lines_next(l));
    text = text_stream_close(&whole, &n_bytes);
    if (text == NULL)
        log_error("%s: out of memory", l->path);
    else if (n_bytes > most_bytes)
        log_error("%s: larger than %d MiB, so it is not a result", l->path, RESULT_MOST_MIB);
    else if (lines_end(l) == 0 && (r->result = result_parse(text, n_bytes, error)) == NULL)
        log_error("%s: %s", l->path, error);
    free(text);
    return r->result != NULL ? 0 : -1;
}

static int add_interval(struct recording *r, const struct lines *l,
                        const struct hlog_interval *interval, struct hist *scratch)
{
    const char *name = interval->tag[0] != '\0' ? interval->tag : "response";
    struct metric *metric = metrics_get(&r->metrics, name);
    char error[HLOG_ERROR_BYTES];

    if (metric == NULL)
        return lines_refuse(l, metrics_shortage(&r->metrics, "too many tags"));
    hist_reset(scratch);
    if (hlog_reader_histogram(interval, scratch, error) != 0)
        return lines_refuse(l, error);
    if (metric->hist.count + metric->hist.beyond + scratch->count + scratch->beyond > INT64_MAX)
        return lines_refuse(l, "the counts of all intervals exceed 2^63");
    hist_merge(&metric->hist, scratch);
    batch_means_add(&metric->batches, scratch->count, hist_mean_ns(scratch));
    if (!r->leaves_out_intervals && timeline_add(&r->timeline, r->log_start_ns, interval) != 0)
        return lines_refuse(l, "out of memory");
    return 0;
}

static int read_log_lines(struct recording *r, struct lines *l, struct hist *scratch)
{
    char error[HLOG_ERROR_BYTES];
    struct hlog_interval interval;
    bool has_head = false; /* a log without intervals ends with the names of the columns */
    int status = 0;

    do {
        if (!is_whole(l))
            return lines_refuse(l, "the line is truncated");
        has_head |= *l->line != '#';
        switch (hlog_reader_line(l->line, &interval, error)) {
        case HLOG_START:
            r->log_start_ns = interval.begin_ns;
            break;
        case HLOG_INTERVAL:
            status = add_interval(r, l, &interval, scratch);
            break;
        case HLOG_BAD:
            status = lines_refuse(l, error);
            break;
        case HLOG_NOTE:
            break;
        }
    } while (status == 0 && lines_next(l));
    if (status == 0 && (status = lines_end(l)) == 0 && !has_head)
        return log_error("%s: truncated before the names of the columns", l->path);
    return status;
}

static int read_log(struct recording *r, struct lines *l)
{
    struct hist scratch;
    int status;

    if (hist_init(&scratch) != 0)
        return log_error("%s: out of memory", l->path);
    status = read_log_lines(r, l, &scratch);
    if (status == 0 && metrics_get(&r->metrics, "response") == NULL)
        status = log_error("%s: out of memory", l->path);
    hist_free(&scratch);
    return status;
}

/* The send lag of queries is that of their rows, answered or not; pushed messages have no such
 * rows.
 */
static void add_row(struct recording *r, const struct row *row, struct hist *send_lag)
{
    if (row->is_answer) {
        r->n_answer_rows++;
        if (r->n_query_rows == 0)
            hist_record(send_lag, row->send_lag_ns);
        return;
    }
    if (r->n_query_rows++ == 0)
        hist_reset(send_lag);
    hist_record(send_lag, row->send_lag_ns);
}

static int read_rows(struct recording *r, struct lines *l)
{
    struct metric *response = metrics_get(&r->metrics, "response");
    struct metric *service = metrics_get(&r->metrics, "service");
    struct metric *send_lag = metrics_get(&r->metrics, "send_lag");
    struct row row;

    if (response == NULL || service == NULL || send_lag == NULL)
        return log_error("%s: out of memory", l->path);
    r->has_rows = true;
    while (lines_next(l)) {
        if (row_reader_is_header(l->line))
            continue; /* of a file that was rotated, whose parts were joined */
        if (!is_whole(l))
            return lines_refuse(l, "the row is truncated");
        if (row_reader_take(l->line, &row) != 0)
            return lines_refuse(l, "not a row written by tcpclient -R");
        add_row(r, &row, &send_lag->hist);
        if (row.is_answer) {
            hist_record(&response->hist, row.response_ns);
            hist_record(&service->hist, row.service_ns);
        }
    }
    if (r->n_query_rows > r->n_answer_rows) {
        hist_record_beyond(&response->hist, r->n_query_rows - r->n_answer_rows);
        hist_record_beyond(&service->hist, r->n_query_rows - r->n_answer_rows);
    }
    return lines_end(l);
}

static int read_values(struct recording *r, struct lines *l)
{
    if (r->has_values)
        return log_error("%s: '%s' already has a log or rows: give only one of them", l->path,
                         r->name);
    r->has_values = true;
    r->has_log = !row_reader_is_header(l->line);
    return r->has_log ? read_log(r, l) : read_rows(r, l);
}

static int read_connections(struct recording *r, struct lines *l)
{
    const char *why;

    if (r->has_connections)
        return log_error("%s: '%s' already has connections", l->path, r->name);
    r->has_connections = true;
    why = connections_begin(&r->connections, l->line);
    while (why == NULL && lines_next(l))
        why = is_whole(l) ? connections_add(&r->connections, l->line) : "the row is truncated";
    connections_sort(&r->connections);
    return why != NULL ? lines_refuse(l, why) : lines_end(l);
}

static int read_lines(struct recording *r, struct lines *l)
{
    if (!lines_next(l))
        return lines_end(l) != 0 ? -1 : log_error("%s: empty", l->path);
    if (l->line[strspn(l->line, " \t\r\n")] == '{') {
        if (r->result == NULL)
            return read_result(r, l);
        return log_error("%s: '%s' already has a result", l->path, r->name);
    }
    if (row_reader_is_header(l->line) || l->line[0] == '#' || l->line[0] == '"' ||
        strncmp(l->line, "Tag=", 4) == 0)
        return read_values(r, l);
    if (connections_is_header(l->line))
        return read_connections(r, l);
    return log_error("%s: unknown format: expected a result (--json), a histogram log (--hlog) or "
                     "rows (-R, -o, --connections-out) of tcpclient",
                     l->path);
}

int recording_read(struct recording *r, const char *path)
{
    struct lines l;
    const int status = lines_open(&l, path) != 0 ? -1 : read_lines(r, &l);

    lines_close(&l);
    return status;
}

/* --- the result's statistics --- */

struct learning {
    struct recording *recording;
    int status;
};

/* A log may lack metrics, but not the response times. */
static bool lacks_all_values(const struct recording *r, const struct metric *metric,
                             const struct latency *l)
{
    return r->has_values && strcmp(metric->name, "response") == 0 && !metric->has_counts &&
           l->count > 0;
}

/* The log has as many values as the result, but other extremes. */
static int refuse_extremes(const struct recording *r, const struct metric *metric,
                           const struct latency *l)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];

    return log_error("%s: %s is from %s to %s in the log or rows, from %s to %s in the result: "
                     "they are from different runs",
                     r->name, metric->name, units_format_duration(a, metric->hist.min_ns),
                     units_format_duration(b, metric->hist.max_ns),
                     units_format_duration(c, l->min_ns), units_format_duration(d, l->max_ns));
}

static void add_statistics(void *arg, const char *name, const struct latency *l)
{
    struct learning *learning = arg;
    struct recording *r = learning->recording;
    struct metric *metric;
    uint64_t n, n_left_out;

    if (learning->status != 0 || strlen(name) >= METRICS_NAME_BYTES) /* of a later version */
        return;
    if (!plain_is(name)) {
        learning->status = log_error("%s: a metric's name has control characters", r->name);
        return;
    }
    metric = metrics_get(&r->metrics, name);
    if (metric == NULL) {
        learning->status = log_error("%s: %s: cannot add %s", r->name,
                                     metrics_shortage(&r->metrics, "too many metrics"), name);
        return;
    }
    n = metric->hist.count;
    if (metrics_learn(metric, l) == 0 && !lacks_all_values(r, metric, l))
        return;
    if (r->has_rows && result_u64(r->result, "output.left_out_rows", &n_left_out) && n_left_out > 0)
        learning->status = log_error("%s: the rows are a sample (--sample) of what the result "
                                     "counts: expected the log (--hlog) instead",
                                     r->name);
    else if (n == l->count)
        learning->status = refuse_extremes(r, metric, l);
    else
        learning->status =
            log_error("%s: the log or rows have %" PRIu64 " %s of %s, the result has %" PRIu64
                      ": they are from different runs or incomplete",
                      r->name, n, units_noun(n, "value", "values"), name, l->count);
}

static int check_connections(const struct recording *r)
{
    const uint64_t n = r->connections.n_attempted;
    uint64_t expected;

    if (!r->connections.has_count || !result_u64(r->result, "connections.attempted", &expected) ||
        n == expected)
        return 0;
    return log_error("%s: the file of --connections-out has %" PRIu64 " %s, the result has %" PRIu64
                     ": they are from different runs or incomplete",
                     r->name, n, units_noun(n, "connection", "connections"), expected);
}

int recording_learn(struct recording *r)
{
    struct learning learning = {.recording = r};

    if (r->result == NULL)
        return 0;
    result_each_metric(r->result, add_statistics, &learning);
    return learning.status != 0 ? learning.status : check_connections(r);
}

bool recording_latency(struct recording *r, const char *metric, struct latency *l)
{
    const struct metric *m = metrics_find(&r->metrics, metric);

    if (r->result != NULL && result_latency(r->result, metric, l))
        return true;
    if (m == NULL)
        return false;
    metrics_latency(m, l);
    return true;
}

void recording_free_values(struct recording *r)
{
    metrics_free(&r->metrics);
    timeline_free(&r->timeline);
    connections_free(&r->connections);
}

void recording_free(struct recording *r)
{
    free(r->name);
    free(r->directory);
    result_free(r->result);
    recording_free_values(r);
}
