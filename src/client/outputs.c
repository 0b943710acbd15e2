/* SPDX-License-Identifier: MIT
 * client_outputs: see client/outputs.h. */
#include "client/outputs.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text_stream.h"
#include "measure/hlog.h"
#include "measure/rows.h"

#include <stdlib.h>
#include <string.h>

#define ALL_OF(out)                                                                                \
    {                                                                                              \
        &(out)->json, &(out)->rows, &(out)->hlog, &(out)->hgrm, &(out)->connections,               \
            &(out)->trials, &(out)->sweep, &(out)->page                                            \
    }

static int open_rows(struct output *o, const struct client_opts *opts)
{
    if (!opts->raw)
        return 0;
    return opts->output != NULL ? output_open_log(o, "output", opts->output)
                                : output_open_log(o, "raw", "-");
}

static int open_hlog(struct client_outputs *out, const struct client_opts *o)
{
    return out->hlog_name != NULL ? output_open_log(&out->hlog, "report", out->hlog_name)
                                  : output_open_log(&out->hlog, "hlog", o->hlog);
}

int client_outputs_open_json(struct client_outputs *out, const struct client_opts *o)
{
    return output_open_document(&out->json, "json", o->json);
}

int client_outputs_open(struct client_outputs *out, const struct client_opts *o)
{
    if (o->hlog != NULL && !hlog_is_available())
        return log_error("--hlog: this program was built without zlib");
    if (client_outputs_open_json(out, o) != 0 || open_rows(&out->rows, o) != 0 ||
        open_hlog(out, o) != 0 || output_open_document(&out->hgrm, "hgrm", o->hgrm) != 0 ||
        output_open_document(&out->connections, "connections-out", o->connections_out) != 0 ||
        output_open_document(&out->trials, "find-out", o->find_out) != 0 ||
        output_open_document(&out->sweep, "sweep-out", o->sweep_out) != 0 ||
        output_open_document(&out->page, "report", o->report) != 0)
        return -1;
    return 0;
}

int client_outputs_begin(struct client_outputs *out)
{
    struct output *const all[] = ALL_OF(out);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (output_begin(all[i]) != 0)
            return -1;
    return 0;
}

void client_outputs_look(struct client_outputs *out, const struct rows *rows)
{
    if (rows != NULL)
        output_say_lost(&out->rows, rows_error(rows), "rows", true);
    output_say_lost(&out->hlog, out->hlog.error, "intervals", out->hlog_name == NULL);
}

static void reopen_rows(struct output *o, struct rows *rows)
{
    const bool is_rotated = rows != NULL && output_is_rotated(o);
    const int error = is_rotated ? rows_error(rows) : 0;

    if (error != 0)
        output_fail(o, error);
    output_reopen(o, ROWS_HEADER);
    if (is_rotated)
        rows_resume(rows);
}

void client_outputs_reopen(struct client_outputs *out, struct rows *rows)
{
    reopen_rows(&out->rows, rows);
    if (out->hlog_name == NULL)
        output_reopen(&out->hlog, out->hlog_head);
}

int client_outputs_begin_hlog(struct client_outputs *out)
{
    struct text_stream head;
    size_t n_bytes;
    char *copy;

    if (text_stream_open(&head) == 0)
        hlog_begin(head.out, "tcpclient", TCPSCALER_VERSION,
                   clock_now_ns() + clock_realtime_offset_ns());
    out->hlog_head = text_stream_close(&head, &n_bytes);
    if (out->hlog_head == NULL || (copy = strdup(out->hlog_head)) == NULL)
        return log_error("out of memory");
    output_put(&out->hlog, copy, n_bytes);
    return 0;
}

int client_outputs_close(struct client_outputs *out)
{
    struct output *const all[] = {&out->json,   &out->hlog,  &out->hgrm, &out->connections,
                                  &out->trials, &out->sweep, &out->rows};
    int failed = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        failed |= output_close(all[i]);
    return failed;
}

void client_outputs_withdraw(struct client_outputs *out)
{
    struct output *const all[] = ALL_OF(out);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        output_withdraw(all[i]);
}
