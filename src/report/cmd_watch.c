/* SPDX-License-Identifier: MIT
 * cmd_watch: tcpreport watch: samples a server of this host once per second until interrupted. */
#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "base/shutdown.h"
#include "base/units.h"
#include "host/watch/watch.h"
#include "measure/result_json.h"
#include "measure/server_cost_report.h"
#include "report/cmd.h"
#include "report/opts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Waits for the next second.  Returns whether to go on. */
static bool wait_until(uint64_t due_ns)
{
    struct pollfd end = {.fd = shutdown_fd(), .events = POLLIN};
    uint64_t now_ns = clock_now_ns();

    while (now_ns < due_ns && !shutdown_was_requested()) {
        (void)poll(&end, 1, (int)((due_ns - now_ns) / UNITS_NS_PER_MS + 1));
        now_ns = clock_now_ns();
    }
    return !shutdown_was_requested();
}

/* Returns 0, or -1 after one line on stderr if memory runs out. */
static int sample(struct watch *w, struct watch_series *series, uint64_t duration_ns)
{
    const uint64_t begin_ns = clock_now_ns();
    struct watch_sample s;
    uint64_t due_ns = begin_ns;

    while (watch_take(w, &s)) {
        /* the sockets of the port stand for the client's connections, if they were listed */
        s.at[WATCH_CONNECTIONS] = s.at[WATCH_ESTABLISHED];
        if (watch_series_add(series, &s) != 0)
            return log_error("out of memory");
        due_ns += UNITS_NS_PER_S;
        if (due_ns < clock_now_ns()) /* the host was suspended, or a sample took long */
            due_ns = clock_now_ns();
        if ((duration_ns > 0 && due_ns > begin_ns + duration_ns) || !wait_until(due_ns))
            return 0;
        watch_follow_clock(w); /* in days it may be set, or the host suspended */
    }
    log_error("%s: %s", w->name, w->end);
    return 0;
}

static void print_json(FILE *out, const struct watch *w, const struct watch_series *series)
{
    char text[SERVER_COST_NAME_BYTES];
    struct json j;

    result_json_begin(&j, out, "tcpreport", TCPSCALER_VERSION);
    server_cost_copy_name(text, w->name);
    json_string(&j, "watched", text);
    json_u64(&j, "port", w->port);
    server_cost_copy_name(text, w->end);
    json_string(&j, "end", w->end[0] != '\0' ? text : NULL);
    server_cost_report_samples(&j, series, WATCH_SERIES_MOST);
    json_object_end(&j);
}

static int record(struct watch *w, struct output *file, uint64_t duration_ns)
{
    struct watch_series series = {0};
    int failed = sample(w, &series, duration_ns);

    if (!failed)
        failed = output_begin(file);
    if (!failed)
        print_json(file->stream, w, &series);
    if (output_close(file) != 0)
        failed = -1;
    watch_series_free(&series);
    return failed ? CMD_UNWRITTEN : w->end[0] != '\0' ? CMD_SUSPECT : CMD_OK;
}

int cmd_watch(const struct report_opts *opts)
{
    struct watch *w = malloc(sizeof *w);
    struct output file = OUTPUT_CLOSED;
    char error[WATCH_TEXT_BYTES];
    int code = CMD_USAGE;

    if (w == NULL)
        log_error("out of memory");
    else if (watch_open(w, "/proc", &opts->target, opts->port, error) != 0)
        log_error("'%s': %s", opts->files[0], error);
    else if (shutdown_catch() != 0)
        log_error("cannot handle signals: %s", strerror(errno));
    else if (output_open_document(&file, "json", opts->json) == 0) {
        log_error("watching %s", w->name);
        code = record(w, &file, opts->duration_ns);
    }
    free(w);
    return code;
}
