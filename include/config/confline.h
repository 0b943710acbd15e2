/* SPDX-License-Identifier: MIT
 * confline: one line of a configuration.
 *
 *   name = value     # a comment
 *   name
 *
 * '#' begins a comment at the start of the line or after a blank.  A value with a '#', or with
 * blanks at its ends, is enclosed in double quotes; within them are \" \\ and \n.  Blanks are
 * space, tab and carriage return.  Pure. */
#ifndef TCPSCALER_CONFIG_CONFLINE_H
#define TCPSCALER_CONFIG_CONFLINE_H

#include <stdio.h>

#define CONFLINE_ERROR_BYTES 128

struct confline {
    char *name;  /* NULL: nothing but blanks or a comment */
    char *value; /* NULL: the name stands alone */
};

/* Cuts a line, which has no newline, in place; the parts point into it.  Returns 0, or -1 with an
 * error of one line. */
int confline_cut(char *line, struct confline *parts, char *error);

/* "name = value" and a newline, in quotes where needed: confline_cut() finds the same. */
void confline_print(FILE *out, const char *name, const char *value);

#endif
