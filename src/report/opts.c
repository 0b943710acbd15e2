/* SPDX-License-Identifier: MIT
 * report_opts: see report/opts.h. */
#include "report/opts.h"

#include "base/units.h"
#include "config/options_parse.h"
#include "config/options_rows.h"
#include "report/plot.h"

#include <stddef.h>
#include <string.h>

#define FIELD(name) offsetof(struct report_opts, name)
#define N_OF(array) (sizeof(array) / sizeof *(array))

#define ROW_WATCH                                                                                  \
    "watch", 0, OPTION_TEXT, FIELD(watch), "FILE",                                                 \
        "include what the server used, from tcpreport watch --json FILE", 0, 0, NULL

static const struct option_row show_rows[] = {
    {ROW_WATCH}, {OPTIONS_ROW_HELP}, {OPTIONS_ROW_VERSION}};

static const struct option_row merge_rows[] = {
    {"json", 0, OPTION_TEXT, FIELD(json), "FILE", "write the merged result to FILE (-: stdout)", 0,
     0, NULL},
    {"hlog", 0, OPTION_TEXT, FIELD(hlog), "FILE", "write the merged histogram log to FILE", 0, 0,
     NULL},
    {OPTIONS_ROW_HELP},
    {OPTIONS_ROW_VERSION}};

static const struct option_row compare_rows[] = {
    {"min-runs", 0, OPTION_COUNT, FIELD(min_runs), "N",
     "require N VALID runs on each side, else INCONCLUSIVE (default: 10)", 1, 100000, NULL},
    {"force", 0, OPTION_FLAG, FIELD(force), NULL, "compare even if settings or hosts differ", 0, 0,
     NULL},
    {"any-answers", 0, OPTION_FLAG, FIELD(any_answers), NULL,
     "compare even if the kinds of answers differ", 0, 0, NULL},
    {"nights", 0, OPTION_FLAG, FIELD(nights), NULL,
     "one value per directory: compare the last night with the others", 0, 0, NULL},
    {"json", 0, OPTION_TEXT, FIELD(json), "FILE", "write verdict and figures to FILE (-: stdout)",
     0, 0, NULL},
    {OPTIONS_ROW_HELP},
    {OPTIONS_ROW_VERSION}};

static const struct option_row plot_rows[] = {
    {"kind", 0, OPTION_CHOICE, FIELD(kind), "KIND",
     "latency, time, connect, rate, capacity or recovery (default: latency)", 0, 0, PLOT_KINDS},
    {"metric", 0, OPTION_TEXT, FIELD(metric), "NAME",
     "metric of latency or time, such as service (default: response)", 0, 0, NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), "FILE",
     "write the plot to FILE, which ends in .png or .svg (or use --term)", 0, 0, NULL},
    {"term", 0, OPTION_FLAG, FIELD(term), NULL, "draw the plot as text on stdout", 0, 0, NULL},
    {OPTIONS_ROW_HELP},
    {OPTIONS_ROW_VERSION}};

static const struct option_row html_rows[] = {{"output", 'o', OPTION_TEXT, FIELD(output), "FILE",
                                               "write the page to FILE (-: stdout; required)", 0, 0,
                                               NULL},
                                              {ROW_WATCH},
                                              {OPTIONS_ROW_HELP},
                                              {OPTIONS_ROW_VERSION}};

static const struct option_row watch_rows[] = {
    {"port", 0, OPTION_PORT, FIELD(port), "PORT", "the server's port (required)", 0, 0, NULL},
    {"json", 0, OPTION_TEXT, FIELD(json), "FILE", "write the samples to FILE (-: stdout; required)",
     0, 0, NULL},
    {"duration", 0, OPTION_DURATION, FIELD(duration_ns), "TIME",
     "end after TIME (default: when interrupted)", UNITS_NS_PER_S, OPTIONS_MOST_TIME_NS, NULL},
    {OPTIONS_ROW_HELP},
    {OPTIONS_ROW_VERSION}};

/* Of one command, since a program runs only one. */
static union {
    unsigned char show[N_OF(show_rows)], merge[N_OF(merge_rows)], compare[N_OF(compare_rows)],
        plot[N_OF(plot_rows)], html[N_OF(html_rows)], watch[N_OF(watch_rows)];
} given;

#define TABLE(command, operands)                                                                   \
    {                                                                                              \
        .program = "tcpreport", .usage = #command " [options] " operands,                          \
        .version = TCPSCALER_VERSION, .rows = command##_rows, .n_rows = N_OF(command##_rows),      \
        .given = given.command                                                                     \
    }

static struct options tables[REPORT_N_COMMANDS] = {
    [REPORT_SHOW] = TABLE(show, "FILE..."),
    [REPORT_MERGE] = TABLE(merge, "FILE..."),
    [REPORT_COMPARE] = TABLE(compare, "FILE... -- FILE..."),
    [REPORT_PLOT] = TABLE(plot, "FILE..."),
    [REPORT_HTML] = TABLE(html, "FILE... [-- FILE...]"),
    [REPORT_WATCH] = TABLE(watch, "PID|unit:NAME|cgroup:PATH"),
};

#define SUMMARY(id, name, summary) summary,
#define NAME(id, name, summary)    #name,

static const char *const names[] = {REPORT_COMMANDS(NAME)};
static const char *const summaries[] = {REPORT_COMMANDS(SUMMARY)};

struct options *report_opts_table(enum report_command command)
{
    tables[command].summary = summaries[command];
    return &tables[command];
}

void report_opts_print_commands(const char *program, FILE *out)
{
    fprintf(out,
            "Usage: %s COMMAND [options] FILE...\nReads files written by tcpclient.\n\nCommands\n",
            program);
    for (int i = 0; i < REPORT_N_COMMANDS; i++)
        fprintf(out, "  %-10s%s\n", names[i], summaries[i]);
    fprintf(out, "\n%s COMMAND --help prints its options.\n", program);
}

#define REFUSE(...) (snprintf(error, OPTIONS_ERROR_BYTES, __VA_ARGS__), OPTIONS_USAGE)

/* getopt treats "--" as the end of the options and does not tell where it was. */
static int find_separator(int argc, char **argv)
{
    int i = 1;

    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    return i;
}

static enum options_result check_watch(struct report_opts *opts, char *error)
{
    if (opts->n_files != 1)
        return REFUSE("expected one server: " WATCH_TARGET_ACCEPTED);
    if (watch_target_parse(&opts->target, opts->files[0]) != 0)
        return REFUSE("invalid server '%.100s': expected " WATCH_TARGET_ACCEPTED, opts->files[0]);
    if (opts->port == 0)
        return REFUSE("missing --port PORT");
    if (opts->json == NULL)
        return REFUSE("missing --json FILE");
    return OPTIONS_RUN;
}

enum options_result report_opts_parse(struct report_opts *opts, enum report_command command,
                                      int argc, char **argv, FILE *out, char *error)
{
    const bool has_groups = command == REPORT_COMPARE || command == REPORT_HTML;
    const int end = has_groups ? find_separator(argc, argv) : argc;
    int first;
    enum options_result result;

    *opts = (struct report_opts){.min_runs = 10, .metric = "response"};
    result = options_parse(report_opts_table(command), opts, end, argv, &first, out, error);
    if (result != OPTIONS_RUN)
        return result;
    opts->files = argv + first;
    opts->n_files = end - first;
    opts->others = argv + end + 1;
    opts->n_others = end < argc ? argc - end - 1 : 0;
    if (command == REPORT_WATCH)
        return check_watch(opts, error);
    if (command == REPORT_COMPARE && opts->n_files > 0 && end == argc)
        return REFUSE("missing -- between the two groups of runs: usage: tcpreport compare "
                      "[options] FILE... -- FILE...");
    if (command == REPORT_COMPARE && (opts->n_files == 0 || opts->n_others == 0))
        return REFUSE("missing FILE: usage: tcpreport compare [options] FILE... -- FILE...");
    if (opts->n_files == 0)
        return REFUSE("missing FILE: usage: tcpreport %s [options] FILE...", names[command]);
    if (command == REPORT_PLOT && (opts->output != NULL) == opts->term)
        return REFUSE("--output, --term: expected exactly one of them");
    if (command == REPORT_PLOT && options_was_given(report_opts_table(command), "metric") &&
        opts->kind != PLOT_LATENCY && opts->kind != PLOT_TIME)
        return REFUSE("--metric: requires --kind latency or time");
    if (command == REPORT_HTML && opts->output == NULL)
        return REFUSE("missing --output FILE");
    return OPTIONS_RUN;
}
