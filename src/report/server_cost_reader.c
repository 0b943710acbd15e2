/* SPDX-License-Identifier: MIT
 * server_cost_reader: see report/server_cost_reader.h. */
#include "report/server_cost_reader.h"

#include "report/result.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 64 };

/* Limit on all figures: another program may have written the file. */
#define MOST 1e18

/* NAN: unknown. */
static double double_of(const struct json_object *object, const char *path)
{
    double value;

    return result_double(object, path, &value) && fabs(value) < MOST ? value : NAN;
}

/* The same, and not negative. */
static double positive_of(const struct json_object *object, const char *path)
{
    const double value = double_of(object, path);

    return value >= 0 ? value : NAN;
}

static uint64_t count_of(const struct json_object *object, const char *path)
{
    uint64_t value = WATCH_UNKNOWN;

    (void)result_u64(object, path, &value);
    return value;
}

static void copy_text(char to[SERVER_COST_NAME_BYTES], const char *from)
{
    server_cost_copy_name(to, from != NULL ? from : "");
}

static struct slope slope_of_json(const struct json_object *object)
{
    const uint64_t n = count_of(object, "samples");
    const double per_x = double_of(object, "value"), high = double_of(object, "high");

    return (struct slope){
        .n = isnan(per_x) || n == WATCH_UNKNOWN ? 0 : (size_t)n,
        .per_x = per_x,
        .low = isnan(high) ? NAN : double_of(object, "low"),
        .high = high,
    };
}

static enum server_cost_source source_of(const char *name)
{
    for (int i = 0; i < SERVER_COST_N_SOURCES; i++)
        if (name != NULL && strcmp(server_cost_source_name((enum server_cost_source)i), name) == 0)
            return (enum server_cost_source)i;
    return SERVER_COST_NONE;
}

int server_cost_read(struct server_cost *c, const struct json_object *object)
{
    if (object == NULL)
        return -1;
    copy_text(c->name, result_string(object, "watched"));
    copy_text(c->end, result_string(object, "end"));
    c->n_samples = count_of(object, "n_samples");
    c->user = slope_of_json(result_find(object, "user_bytes_per_connection"));
    c->kernel = slope_of_json(result_find(object, "kernel_bytes_per_connection"));
    c->user_source = source_of(result_string(object, "user_bytes_per_connection.source"));
    c->buffer_bytes = positive_of(object, "buffer_bytes_per_connection");
    c->queries = count_of(object, "queries");
    c->user_ns = positive_of(object, "user_ns_per_query");
    c->system_ns = positive_of(object, "system_ns_per_query");
    c->cpus = positive_of(object, "cpus");
    if (isnan(c->system_ns) || isnan(c->cpus))
        c->user_ns = NAN; /* all three, or none */
    c->rss_bytes = count_of(object, "rss_bytes");
    c->pss_bytes = count_of(object, "pss_bytes");
    c->cgroup_bytes = count_of(object, "cgroup_bytes");
    c->fds = count_of(object, "fds");
    c->processes = count_of(object, "processes");
    c->listen_queue = count_of(object, "listen_queue.longest");
    c->listen_backlog = count_of(object, "listen_queue.backlog");
    c->listen_overflows = count_of(object, "listen_queue.overflows");
    c->listen_drops = count_of(object, "listen_queue.drops");
    return 0;
}

/* --- samples --- */

/* Returns the number of columns; 0: there are none. */
static size_t read_columns(enum watch_figure columns[MOST_COLUMNS],
                           const struct json_object *object)
{
    const char *key;
    size_t n = 0;

    while (n < MOST_COLUMNS && (key = result_item(object, "columns", (unsigned)n)) != NULL)
        columns[n++] = watch_figure_of(key);
    return n;
}

static void read_row(struct watch_sample *sample, const struct json_object *row,
                     const enum watch_figure *columns, size_t n)
{
    watch_sample_init(sample);
    for (size_t i = 0; i < n; i++)
        if (columns[i] < WATCH_N_FIGURES)
            (void)result_u64(result_element(row, "", i), "", &sample->at[columns[i]]);
}

int server_cost_read_samples(struct watch_series *series, const struct json_object *object,
                             uint64_t from_ns, uint64_t to_ns)
{
    enum watch_figure columns[MOST_COLUMNS];
    const size_t n = read_columns(columns, object);
    const struct json_object *row;
    struct watch_sample sample;
    uint64_t at_ns, before_ns = 0;

    *series = (struct watch_series){0};
    if (n == 0)
        return -1;
    for (size_t i = 0; (row = result_element(object, "samples", i)) != NULL; i++) {
        read_row(&sample, row, columns, n);
        at_ns = sample.at[WATCH_EPOCH_NS];
        if (at_ns == WATCH_UNKNOWN || at_ns < before_ns ||
            (at_ns >= from_ns && at_ns <= to_ns && watch_series_add(series, &sample) != 0))
            return -1;
        before_ns = at_ns;
    }
    return 0;
}
