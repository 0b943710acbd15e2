/* SPDX-License-Identifier: MIT
 * server_cost_report: see measure/server_cost_report.h. */
#include "measure/server_cost_report.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

/* --- text --- */

enum { BYTES_TEXT_BYTES = UNITS_TEXT_BYTES + 3 };

/* "1,234 B".  A slope is negative if memory was freed meanwhile. */
static const char *signed_bytes(char text[BYTES_TEXT_BYTES], double bytes)
{
    char positive[UNITS_TEXT_BYTES];

    snprintf(text, BYTES_TEXT_BYTES, "%s%s B", bytes <= -0.5 ? "-" : "",
             units_format_count(positive, (uint64_t)fmin(fabs(bytes) + 0.5, 1e15)));
    return text;
}

const char *server_cost_slope_text(char text[SERVER_COST_SLOPE_BYTES], const struct slope *slope)
{
    char value[BYTES_TEXT_BYTES], low[BYTES_TEXT_BYTES], high[BYTES_TEXT_BYTES];

    if (slope->n == 0)
        return NULL;
    signed_bytes(value, slope->per_x);
    if (isnan(slope->low))
        snprintf(text, SERVER_COST_SLOPE_BYTES, "%s", value);
    else
        snprintf(text, SERVER_COST_SLOPE_BYTES, "%.24s (%.24s to %.24s at 95 %% confidence)", value,
                 signed_bytes(low, slope->low), signed_bytes(high, slope->high));
    return text;
}

static bool grows(const struct slope *user)
{
    return (isnan(user->low) ? user->per_x : user->low) >= 0.5;
}

static bool applies(const struct server_cost *c, enum server_cost_note note)
{
    switch (note) {
    case SERVER_COST_NOTE_REUSED:
        return c->user.n > 0 && !grows(&c->user);
    case SERVER_COST_NOTE_MEMORY:
        return c->user.n == 0 && c->kernel.n == 0;
    case SERVER_COST_NOTE_KERNEL:
        return c->user.n > 0 && c->kernel.n == 0;
    default:
        return c->user_ns + c->system_ns <= 0; /* not if NAN */
    }
}

const char *server_cost_note(char text[SERVER_COST_NOTE_BYTES], const struct server_cost *c,
                             enum server_cost_note note)
{
    char n[UNITS_TEXT_BYTES];

    if (!applies(c, note))
        return NULL;
    switch (note) {
    case SERVER_COST_NOTE_REUSED:
        return "no clear growth of user memory: if the server reuses memory of earlier "
               "connections, restart it before a run";
    case SERVER_COST_NOTE_MEMORY:
        snprintf(text, SERVER_COST_NOTE_BYTES,
                 "memory per connection unknown: needs samples taken while at least %u connections "
                 "open",
                 SERVER_COST_LEAST_CONNECTIONS);
        return text;
    case SERVER_COST_NOTE_KERNEL:
        return "kernel memory unknown: needs a control group of the server's own";
    default:
        snprintf(text, SERVER_COST_NOTE_BYTES,
                 "CPU time per query unknown: less than a clock tick for %s %s: use a longer run "
                 "or a higher rate",
                 units_format_known(n, c->queries), units_noun(c->queries, "query", "queries"));
        return text;
    }
}

static void print_note(FILE *out, const struct server_cost *c, enum server_cost_note note)
{
    char text[SERVER_COST_NOTE_BYTES];
    const char *words = server_cost_note(text, c, note);

    if (words != NULL)
        fprintf(out, "             %s\n", words);
}

static void print_memory(FILE *out, const struct server_cost *c)
{
    char text[SERVER_COST_SLOPE_BYTES];

    if (c->user.n > 0)
        fprintf(out, "             %s of user memory (%s) per connection\n",
                server_cost_slope_text(text, &c->user), server_cost_source_name(c->user_source));
    print_note(out, c, SERVER_COST_NOTE_REUSED);
    if (c->kernel.n > 0)
        fprintf(out, "             %s of kernel memory (cgroup) per connection\n",
                server_cost_slope_text(text, &c->kernel));
    print_note(out, c, SERVER_COST_NOTE_MEMORY);
    print_note(out, c, SERVER_COST_NOTE_KERNEL);
}

/* A part of less than a clock tick is 0. */
static void print_cpu_parts(FILE *out, const struct server_cost *c)
{
    char user[UNITS_TEXT_BYTES], system[UNITS_TEXT_BYTES];

    if (c->user_ns > 0 && c->system_ns > 0)
        fprintf(out, "%s user, %s system",
                units_format_duration(user, (uint64_t)(c->user_ns + 0.5)),
                units_format_duration(system, (uint64_t)(c->system_ns + 0.5)));
    else
        fputs(c->user_ns > 0 ? "all user" : "all system", out);
}

static void print_cpu(FILE *out, const struct server_cost *c)
{
    char all[UNITS_TEXT_BYTES];

    if (c->user_ns + c->system_ns > 0) {
        fprintf(out, "             %s of CPU time per query: ",
                units_format_duration(all, (uint64_t)(c->user_ns + c->system_ns + 0.5)));
        print_cpu_parts(out, c);
        fprintf(out, "; %.2f CPUs busy\n", c->cpus);
    }
    print_note(out, c, SERVER_COST_NOTE_CPU);
}

/* Prints nothing if the program had no listener on the target's port. */
static void print_listen_queue(FILE *out, const struct server_cost *c)
{
    char longest[UNITS_TEXT_BYTES], backlog[UNITS_TEXT_BYTES], overflows[UNITS_TEXT_BYTES],
        drops[UNITS_TEXT_BYTES];

    if (c->listen_queue == WATCH_UNKNOWN && c->listen_overflows == WATCH_UNKNOWN)
        return;
    fprintf(out, "             listen queue: longest seen %s of %s, %s %s, %s %s\n",
            units_format_known(longest, c->listen_queue),
            units_format_known(backlog, c->listen_backlog),
            units_format_known(overflows, c->listen_overflows),
            units_noun(c->listen_overflows, "overflow", "overflows"),
            units_format_known(drops, c->listen_drops),
            units_noun(c->listen_drops, "drop", "drops"));
}

void server_cost_report_text(FILE *out, const struct server_cost *c)
{
    fprintf(out, "Server cost  %s\n", c->name);
    print_memory(out, c);
    print_cpu(out, c);
    print_listen_queue(out, c);
    if (c->end[0] != '\0')
        fprintf(out, "             samples end early: %s\n", c->end);
}

/* --- JSON --- */

static void put_slope(struct json *j, const char *key, const struct slope *s, const char *source)
{
    if (!json_object_begin_if(j, key, s->n > 0))
        return;
    json_double(j, "value", s->per_x);
    json_double(j, "low", s->low);
    json_double(j, "high", s->high);
    json_u64(j, "samples", s->n);
    json_string(j, "source", source);
    json_object_end(j);
}

static void put_listen_queue(struct json *j, const struct server_cost *c)
{
    json_object_begin(j, "listen_queue");
    json_known_u64(j, "longest", c->listen_queue);
    json_known_u64(j, "backlog", c->listen_backlog);
    json_known_u64(j, "overflows", c->listen_overflows);
    json_known_u64(j, "drops", c->listen_drops);
    json_object_end(j);
}

/* Rows are written compactly: "[1,2,null]". */
static void put_row(struct json *j, const struct watch_sample *sample)
{
    char text[WATCH_N_FIGURES * 22 + 3] = "[";
    size_t n = 1;

    for (int i = 0; i < WATCH_N_FIGURES; i++) {
        const char *separator = i > 0 ? "," : "";

        n += (size_t)(sample->at[i] == WATCH_UNKNOWN
                          ? snprintf(text + n, sizeof text - n, "%snull", separator)
                          : snprintf(text + n, sizeof text - n, "%s%" PRIu64, separator,
                                     sample->at[i]));
    }
    snprintf(text + n, sizeof text - n, "]");
    json_raw(j, NULL, text);
}

void server_cost_report_samples(struct json *j, const struct watch_series *series, size_t most_rows)
{
    const size_t every = (series->n + most_rows - 1) / most_rows;

    json_array_begin(j, "columns");
    for (int i = 0; i < WATCH_N_FIGURES; i++)
        json_string(j, NULL, watch_figure_key((enum watch_figure)i));
    json_array_end(j);
    json_array_begin(j, "samples");
    for (size_t i = 0; i < series->n; i++)
        if (i % every == 0 || i + 1 == series->n)
            put_row(j, &series->items[i]);
    json_array_end(j);
}

void server_cost_report_json(struct json *j, const char *key, const struct server_cost *c,
                             const struct watch_series *series, size_t most_rows)
{
    json_object_begin(j, key);
    json_string(j, "watched", c->name);
    json_string(j, "end", c->end[0] != '\0' ? c->end : NULL);
    put_slope(j, "user_bytes_per_connection", &c->user, server_cost_source_name(c->user_source));
    put_slope(j, "kernel_bytes_per_connection", &c->kernel,
              server_cost_source_name(SERVER_COST_CGROUP));
    json_double(j, "buffer_bytes_per_connection", c->buffer_bytes);
    json_known_u64(j, "queries", c->queries);
    json_double(j, "user_ns_per_query", c->user_ns);
    json_double(j, "system_ns_per_query", c->system_ns);
    json_double(j, "cpus", c->cpus);
    json_known_u64(j, "rss_bytes", c->rss_bytes);
    json_known_u64(j, "pss_bytes", c->pss_bytes);
    json_known_u64(j, "cgroup_bytes", c->cgroup_bytes);
    json_known_u64(j, "fds", c->fds);
    json_known_u64(j, "processes", c->processes);
    put_listen_queue(j, c);
    json_u64(j, "n_samples", c->n_samples);
    server_cost_report_samples(j, series, most_rows);
    json_object_end(j);
}
