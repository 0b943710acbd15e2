/* SPDX-License-Identifier: MIT
 * cmd_html: tcpreport html: writes one page about a run, or about instances that ran in parallel
 * and are added up. */
#include "base/log.h"
#include "base/output.h"
#include "base/text_stream.h"
#include "report/cmd.h"
#include "report/html_page.h"
#include "report/html_sections.h"
#include "report/opts.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/total.h"
#include "report/watch_file.h"

#include <stdlib.h>

/* The result of all runs: a copy, to be freed; NULL after one line on stderr. */
static struct json_object *result_of(struct recordings *all, const struct total *total)
{
    char error[RESULT_ERROR_BYTES], *text;
    struct json_object *result;
    struct text_stream t;
    size_t n_bytes;

    if (text_stream_open(&t) == 0 && all->n == 1)
        fputs(result_text(all->items[0].result, ""), t.out);
    else if (t.out != NULL)
        total_print_json(t.out, all, total);
    text = text_stream_close(&t, &n_bytes);
    if (text == NULL) {
        log_error("out of memory");
        return NULL;
    }
    result = result_parse(text, n_bytes, error);
    if (result == NULL)
        log_error("cannot add up the results: %s", error);
    free(text);
    return result;
}

static void print_page(struct html_report *r)
{
    char title[300];
    const char *target = result_string(r->result, "target");

    snprintf(title, sizeof title, "tcpclient to %.150s, %.40s: %s",
             target != NULL ? target : "several targets", result_string(r->result, "started"),
             result_verdict_name(result_verdict(r->result)));
    html_page_begin(r->out, title);
    html_summary(r);
    fputs("<main>\n", r->out);
    html_latency(r);
    html_classes(r);
    html_over_time(r);
    html_ramp(r);
    html_outcomes(r);
    html_limits(r);
    html_search(r);
    html_sweep(r);
    html_cost(r);
    html_comparison(r);
    html_instances(r);
    html_details(r);
    if (!r->can_draw)
        fputs("<p class=\"soft\">Pictures are missing: gnuplot was not installed or failed.</p>\n",
              r->out);
    fputs("</main>\n", r->out);
    html_page_end(r->out);
}

/* Returns an exit code. */
static int write_page(const char *name, struct recordings *runs, const struct recordings *earlier,
                      const char *watch)
{
    struct total total = {0};
    struct output file = OUTPUT_CLOSED;
    struct html_report report = {
        .runs = runs, .metrics = &total.metrics, .earlier = earlier, .can_draw = true};
    struct json_object *result = NULL;
    int code = CMD_USAGE;

    if (total_make(&total, runs) == 0 && (result = result_of(runs, &total)) != NULL &&
        (watch == NULL || watch_file_join(result, watch) == 0) &&
        output_open_document(&file, "output", name) == 0) {
        report.out = file.stream;
        report.result = result;
        code = output_begin(&file) == 0 ? CMD_OK : CMD_UNWRITTEN;
        if (code == CMD_OK)
            print_page(&report);
        if (output_close(&file) != 0)
            code = CMD_UNWRITTEN;
    }
    result_free(result);
    total_free(&total);
    return code;
}

static int load_runs(struct recordings *runs, const struct report_opts *o)
{
    return recordings_load(runs, o->files, (size_t)o->n_files) == 0
               ? recordings_need_results(runs, "")
               : -1;
}

static int load_earlier(struct recordings *earlier, const struct report_opts *o)
{
    return o->n_others == 0 || recordings_load_results(earlier, o->others, (size_t)o->n_others) == 0
               ? recordings_need_results(earlier, "")
               : -1;
}

int cmd_html(const struct report_opts *opts)
{
    struct recordings runs = {0}, earlier = {0};
    int code = CMD_USAGE;

    if (load_runs(&runs, opts) == 0 && load_earlier(&earlier, opts) == 0)
        code = write_page(opts->output, &runs, &earlier, opts->watch);
    recordings_free(&runs);
    recordings_free(&earlier);
    return code;
}
