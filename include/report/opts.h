/* SPDX-License-Identifier: MIT
 * report_opts: the command lines of tcpreport, one table of options per command. */
#ifndef TCPSCALER_REPORT_OPTS_H
#define TCPSCALER_REPORT_OPTS_H

#include "config/options.h"
#include "host/watch/target.h"

#include <stdbool.h>
#include <stdint.h>

/* As given, or the defaults. */
struct report_opts {
    const char *json, *hlog;    /* merge; json also compare and watch */
    uint64_t min_runs;          /* compare */
    bool force;                 /* compare */
    bool any_answers;           /* compare */
    bool nights;                /* compare */
    int kind;                   /* plot: enum plot_kind */
    const char *metric;         /* plot */
    const char *output;         /* plot, html */
    const char *watch;          /* show, html: file of tcpreport watch */
    uint16_t port;              /* watch */
    uint64_t duration_ns;       /* watch; 0: until interrupted */
    struct watch_target target; /* watch: parsed from its operand */
    bool term;                  /* plot */
    char **files;
    int n_files;
    char **others; /* compare, html: the files after -- */
    int n_others;
};

/* id, name, what it does; the function is cmd_NAME(). */
#define REPORT_COMMANDS(X)                                                                         \
    X(SHOW, show, "Prints the figures, histogram and verdict of a run.")                           \
    X(MERGE, merge, "Merges the results of instances that ran in parallel, exactly.")              \
    X(COMPARE, compare, "Compares two groups of runs: pass, regression or inconclusive.")          \
    X(PLOT, plot, "Plots runs with gnuplot.")                                                      \
    X(HTML, html, "Writes a self-contained HTML page about a run.")                                \
    X(WATCH, watch, "Records what a server on this host uses, for show and html.")

#define REPORT_COMMAND_ENUM(id, name, summary) REPORT_##id,
enum report_command { REPORT_COMMANDS(REPORT_COMMAND_ENUM) REPORT_N_COMMANDS };

/* The option table of a command, for --help and tests. */
struct options *report_opts_table(enum report_command command);

/* Prints the commands, for --help of a program with this name. */
void report_opts_print_commands(const char *program, FILE *out);

/* argv[0] is the command's name.  Like options_parse(), plus the operands. */
enum options_result report_opts_parse(struct report_opts *opts, enum report_command command,
                                      int argc, char **argv, FILE *out, char *error);

#endif
