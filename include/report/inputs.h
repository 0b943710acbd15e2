/* SPDX-License-Identifier: MIT
 * report_inputs: checks the files of a command line before any of them is read or written. */
#ifndef TCPSCALER_REPORT_INPUTS_H
#define TCPSCALER_REPORT_INPUTS_H

struct report_opts;

/* Checks that no input is given twice on one side, and that no output would overwrite an input,
 * under any name; warns about a file on both sides.  Not for watch, whose operand is not a file.
 * Returns 0, or -1 after one line on stderr. */
int report_inputs_check(const struct report_opts *opts);

#endif
