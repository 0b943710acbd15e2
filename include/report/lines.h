/* SPDX-License-Identifier: MIT
 * lines: reads a file line by line, as getline(3) does, but refuses lines longer than 64 MiB: a
 * file that tcpclient did not write must not use up the memory.  A byte order mark (UTF-8) at the
 * start of the file, and the CR of a line that ends in CR LF, are left out. */
#ifndef TCPSCALER_REPORT_LINES_H
#define TCPSCALER_REPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct lines {
    const char *path; /* borrowed */
    char *line;       /* the last line with its newline, if it has one; terminated; may have NULs */
    size_t length;
    uint64_t number; /* of that line; 0: none yet */
    FILE *in;
    size_t room_bytes;
    const char *failure; /* NULL: none */
};

/* Returns 0, or -1 after one line on stderr.  Close it in either case. */
int lines_open(struct lines *l, const char *path);
void lines_close(struct lines *l);

/* Reads the next line.  Returns false at the end and on failure. */
bool lines_next(struct lines *l);

/* After the last line: returns 0 if that was the end, or -1 after one line on stderr. */
int lines_end(const struct lines *l);

/* Prints on stderr what is wrong with the last line.  Returns -1. */
int lines_refuse(const struct lines *l, const char *why);

#endif
