/* SPDX-License-Identifier: MIT
 * gnuplot: a gnuplot that reads its script from a pipe and draws into a descriptor. */
#ifndef TCPSCALER_GNUPLOT_H
#define TCPSCALER_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

struct gnuplot {
    FILE *script; /* to be written by the caller */
    pid_t pid;
};

/* Pictures go to out_fd, which stays the caller's.  Returns 0, or -1 after a line. */
int gnuplot_open(struct gnuplot *g, int out_fd);

/* Ends the script and waits.  Returns 0, or -1 after a line when gnuplot did not like it. */
int gnuplot_close(struct gnuplot *g);

#endif
