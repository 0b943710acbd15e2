/* SPDX-License-Identifier: MIT
 * gnuplot: a gnuplot that reads its script from a pipe, and its picture. */
#ifndef TCPSCALER_REPORT_GNUPLOT_H
#define TCPSCALER_REPORT_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

struct gnuplot {
    FILE *script; /* to be written by the caller */
    int picture_fd;
    pid_t pid;
};

/* Returns 0, or -1 after a line. */
int gnuplot_open(struct gnuplot *g);

/* Ends the script, waits, and copies the picture to `out`: gnuplot does not tell when its own
 * writes fail, a stream does.  Returns 0, or -1 after a line when gnuplot did not like the script.
 */
int gnuplot_close(struct gnuplot *g, FILE *out);

#endif
