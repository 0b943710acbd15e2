/* SPDX-License-Identifier: MIT
 * gnuplot: runs gnuplot with a script from a pipe and returns its picture. */
#ifndef TCPSCALER_REPORT_GNUPLOT_H
#define TCPSCALER_REPORT_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

struct gnuplot {
    FILE *script; /* to be written by the caller */
    int picture_fd;
    pid_t pid;
};

/* Starts gnuplot.  Returns 0, or -1 after one line on stderr. */
int gnuplot_open(struct gnuplot *g);

/* Closes the script, waits, and copies the picture to `out`, because gnuplot does not report its
 * own write errors.  Returns 0; or -1 after one line on stderr if gnuplot failed, or the picture is
 * empty or incomplete. */
int gnuplot_close(struct gnuplot *g, FILE *out);

#endif
