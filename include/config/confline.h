/* SPDX-License-Identifier: MIT
 * confline: one line of a configuration.
 *
 *   name = value     # a comment
 *   name
 *
 * '#' begins a comment at the start of the line or of the value, and after a blank.  A value is
 * enclosed in double quotes if it is empty, has a '#' in such a place, a '"' at its start, blanks
 * at its ends, or a newline; within the quotes are \" \\ and \n.  Blanks are space, tab and
 * carriage return.  Pure. */
#ifndef TCPSCALER_CONFIG_CONFLINE_H
#define TCPSCALER_CONFIG_CONFLINE_H

#include <stdio.h>

#define CONFLINE_ERROR_BYTES 128
#define CONFLINE_BLANKS      " \t\r"

struct confline {
    char *name;  /* NULL: only blanks or a comment */
    char *value; /* NULL: there is only a name */
};

/* Splits a line without newline in place; the parts point into it.  Returns 0, or -1 with an error
 * of one line. */
int confline_cut(char *line, struct confline *parts, char *error);

/* Prints "name = value" and a newline, quoted if needed, so that confline_cut() returns the same.
 */
void confline_print(FILE *out, const char *name, const char *value);

#endif
