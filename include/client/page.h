/* SPDX-License-Identifier: MIT
 * client_page: --report: writes the page about the run with the tcpreport that is installed beside
 * this program, which draws with gnuplot.  Main thread.
 *
 * tcpreport reads the result and the histogram log from a temporary directory, in $TMPDIR or /tmp;
 * files of --hlog and --connections-out are linked there instead. */
#ifndef TCPSCALER_CLIENT_PAGE_H
#define TCPSCALER_CLIENT_PAGE_H

#include "client/report.h"

#include <limits.h>
#include <stdbool.h>

struct client_page {
    const char *name; /* of the page, in messages */
    char tcpreport[PATH_MAX];
    char directory[PATH_MAX]; /* "": none */
    char log[PATH_MAX];       /* the histogram log to write during the run; "": none */
};

/* Finds the tcpreport beside the program `self`, a path: with the same prefix in its name, such as
 * tcpscaler-tcpreport beside tcpscaler-tcpclient.  A program with any other name uses plain
 * tcpreport. */
void client_page_find_tcpreport(char path[PATH_MAX], const char *self);

/* Finds the programs, so that a page that cannot be drawn is refused before the run, and creates
 * the directory.  page, which is borrowed, hlog and connections: files of --report, --hlog and
 * --connections-out, the last two NULL without the option; refused if they cannot be read again:
 * "-" and pipes.  Returns 0, or -1 after one line on stderr. */
int client_page_prepare(struct client_page *p, const char *page, const char *hlog,
                        const char *connections);

/* Writes the page to fd, after the log and the connections have been written and closed.
 * was_requested: a request to stop (base/shutdown.h) has ended the run, and must not end tcpreport,
 * too.  Otherwise a request made since the end of the run ends tcpreport.  Returns 0, or -1 after a
 * line on stderr. */
int client_page_write(const struct client_page *p, int fd, const struct report_about *about,
                      const struct client_result *result, bool was_requested);

/* Removes the directory. */
void client_page_free(struct client_page *p);

#endif
