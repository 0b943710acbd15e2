/* SPDX-License-Identifier: MIT
 * options_help: prints --help from a table of options. */
#ifndef TCPSCALER_CONFIG_OPTIONS_HELP_H
#define TCPSCALER_CONFIG_OPTIONS_HELP_H

#include "config/options.h"

#include <stdio.h>

void options_print_help(const struct options *o, FILE *out);

#endif
