/* SPDX-License-Identifier: MIT
 * options_parse: parses a command line, and the texts of settings that it overrides, by a table of
 * options.  Never exits; the caller decides.  Not reentrant, because getopt_long(3) is not. */
#ifndef TCPSCALER_CONFIG_OPTIONS_PARSE_H
#define TCPSCALER_CONFIG_OPTIONS_PARSE_H

#include "config/options.h"

#include <stdio.h>

/* The value of the last option of this kind on the command line, up to a --help or --version; NULL
 * if there is none. */
const char *options_find(const struct options *o, enum option_kind kind, int argc, char **argv);

/* Sets the fields of *settings named in the texts and then in the arguments.  OPTIONS_RUN:
 * *first_operand is the index in argv (permuted) of the first operand.  OPTIONS_EXIT: help or
 * version was printed to `out`, and the options after it were not read.  OPTIONS_USAGE: error
 * (OPTIONS_ERROR_BYTES) is one line with option, value and what is expected; for a text also with
 * its name and line number. */
enum options_result options_parse(struct options *o, void *settings, int argc, char **argv,
                                  int *first_operand, FILE *out, char *error);

#endif
