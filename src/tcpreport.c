/* SPDX-License-Identifier: MIT
 * tcpreport: reads what tcpclient wrote.  Finds the command, parses, runs it. */
#include "base/large_blocks.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/output.h"
#include "base/standard_streams.h"
#include "report/cmd.h"
#include "report/inputs.h"
#include "report/opts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define ROW(id, name, summary) {#name, cmd_##name},

static const struct {
    const char *name;
    int (*run)(const struct report_opts *opts);
} commands[] = {REPORT_COMMANDS(ROW)};

#define ALTERNATIVE(id, name, summary) "|" #name

static const char alternatives[] = REPORT_COMMANDS(ALTERNATIVE);

/* After --help and --version. */
static int end_help(void)
{
    return output_flush_stdout() == 0 ? CMD_OK : CMD_USAGE;
}

static int run(enum report_command command, int argc, char **argv)
{
    char error[OPTIONS_ERROR_BYTES];
    struct report_opts opts;
    int code;

    report_opts_table(command)->program = program_invocation_short_name;
    switch (report_opts_parse(&opts, command, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return end_help();
    case OPTIONS_USAGE:
        log_error("%s", error);
        return CMD_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (command != REPORT_WATCH && report_inputs_check(&opts) != 0)
        return CMD_USAGE;
    code = commands[command].run(&opts);
    return output_flush_stdout() == 0 ? code : CMD_UNWRITTEN;
}

static int find_and_run(int argc, char **argv)
{
    if (argc < 2) {
        log_error("missing COMMAND: see --help");
        return CMD_USAGE;
    }
    for (int i = 0; i < REPORT_N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run((enum report_command)i, argc - 1, argv + 1);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        report_opts_print_commands(program_invocation_short_name, stdout);
        return end_help();
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("%s %s\n", program_invocation_short_name, TCPSCALER_VERSION);
        return end_help();
    }
    log_error("unknown command '%s': expected %s: see --help", argv[1], &alternatives[1]);
    return CMD_USAGE;
}

int main(int argc, char **argv)
{
    standard_streams_open();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* of 'ulimit -f': write(2) fails with EFBIG */
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    messages_take_stderr();
    large_blocks_map();
    return find_and_run(argc, argv);
}
