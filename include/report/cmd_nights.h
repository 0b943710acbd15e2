/* SPDX-License-Identifier: MIT
 * cmd_nights: tcpreport compare --nights.  The runs of one directory are a night; compares
 * the last one with the nights before it. */
#ifndef TCPSCALER_REPORT_CMD_NIGHTS_H
#define TCPSCALER_REPORT_CMD_NIGHTS_H

struct report_opts;
struct run_group;

/* Moves the runs of `before` together by night, prints the verdict and a table, writes --json.
 * Returns an exit code of cmd_compare(). */
int cmd_nights(const struct report_opts *o, struct run_group *before,
               const struct run_group *tonight);

#endif
