/* SPDX-License-Identifier: MIT
 * cmd: the commands of tcpreport.  Each reads the files of its command line, prints to stdout,
 * reports errors on stderr and returns the exit code. */
#ifndef TCPSCALER_REPORT_CMD_H
#define TCPSCALER_REPORT_CMD_H

struct report_opts;

/* Exit codes that all commands share.  CMD_USAGE: a wrong command line or file, or an output that
 * cannot be opened; CMD_UNWRITTEN: an output was opened, but not written. */
enum { CMD_OK = 0, CMD_WORSE = 1, CMD_USAGE = 2, CMD_SUSPECT = 3, CMD_UNWRITTEN = 3 };

int cmd_show(const struct report_opts *opts);

/* CMD_SUSPECT: the merged run is not VALID. */
int cmd_merge(const struct report_opts *opts);

/* CMD_OK: no metric is worse; CMD_WORSE: one is; CMD_USAGE: inconclusive, because of too few runs,
 * other settings or another host, a metric that one side lacks, or none that holds. */
int cmd_compare(const struct report_opts *opts);

/* CMD_USAGE also if gnuplot is missing or fails. */
int cmd_plot(const struct report_opts *opts);

/* Without gnuplot the page has no pictures. */
int cmd_html(const struct report_opts *opts);

/* CMD_SUSPECT: the server ended before the command did. */
int cmd_watch(const struct report_opts *opts);

#endif
