/* SPDX-License-Identifier: MIT
 * client_outputs: see client/outputs.h. */
#include "client/outputs.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/reopen.h"
#include "measure/hlog.h"
#include "measure/rows_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_output(struct output *o, const char *option, const char *name)
{
    return name == NULL ? 0 : output_open(o, option, name);
}

int client_outputs_open_json(struct client_outputs *out, const struct client_opts *o)
{
    return open_output(&out->json, "json", o->json);
}

static int begin_output(struct output *o)
{
    if (output_begin(o) != 0)
        return log_error("--%s: cannot write '%s': %s", o->option, o->name, strerror(errno));
    return 0;
}

int client_outputs_open(struct client_outputs *out, const struct client_opts *o)
{
    struct output *const all[] = {&out->json,        &out->rows,   &out->hlog,  &out->hgrm,
                                  &out->connections, &out->trials, &out->sweep, &out->page};

    if (o->hlog != NULL && !hlog_is_available())
        return log_error("--hlog: this program was built without zlib");
    if (client_outputs_open_json(out, o) != 0 ||
        (o->raw && output_open(&out->rows, o->output != NULL ? "output" : "raw",
                               o->output != NULL ? o->output : "-") != 0) ||
        open_output(&out->hlog, "hlog", out->hlog_name != NULL ? out->hlog_name : o->hlog) != 0 ||
        open_output(&out->hgrm, "hgrm", o->hgrm) != 0 ||
        open_output(&out->connections, "connections-out", o->connections_out) != 0 ||
        open_output(&out->trials, "find-out", o->find_out) != 0 ||
        open_output(&out->sweep, "sweep-out", o->sweep_out) != 0 ||
        open_output(&out->page, "report", o->report) != 0)
        return -1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (begin_output(all[i]) != 0)
            return -1;
    return 0;
}

void client_outputs_reopen(struct client_outputs *out, const struct client_opts *o)
{
    if (o->output != NULL && reopen(out->rows.fd, o->output, ROWS_HEADER) != 0)
        log_error("--output: cannot reopen '%s': %s", o->output, strerror(errno));
    if (out->hlog.stream != NULL && o->hlog != NULL &&
        (fflush(out->hlog.stream) != 0 || reopen(out->hlog.fd, o->hlog, out->hlog_head) != 0))
        log_error("--hlog: cannot reopen '%s': %s", o->hlog, strerror(errno));
}

int client_outputs_begin_hlog(struct client_outputs *out)
{
    size_t n_bytes;
    FILE *head = open_memstream(&out->hlog_head, &n_bytes);

    if (head == NULL)
        return log_error("out of memory");
    hlog_begin(head, "tcpclient", TCPSCALER_VERSION, clock_now_ns() + clock_realtime_offset_ns());
    if (fclose(head) != 0)
        return log_error("out of memory");
    fputs(out->hlog_head, out->hlog.stream);
    return 0;
}

int client_outputs_close(struct client_outputs *out)
{
    int failed = output_close(&out->json, true);

    failed |= output_close(&out->hlog, false);
    failed |= output_close(&out->hgrm, true);
    failed |= output_close(&out->connections, true);
    failed |= output_close(&out->trials, true);
    failed |= output_close(&out->sweep, true);
    failed |= output_close(&out->rows, false);
    return failed;
}
