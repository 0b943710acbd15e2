/* SPDX-License-Identifier: MIT
 * settings: where the settings of a program come from: a profile (--profile), a file (--config) and
 * the command line, each winning over those before it.  The environment has none. */
#ifndef TCPSCALER_CONFIG_SETTINGS_H
#define TCPSCALER_CONFIG_SETTINGS_H

#include "config/options.h"
#include "config/profile.h"

/* As options_parse(), with the texts that the command line names; they stay with the table, until
 * the next call.  --profile list is OPTIONS_EXIT. */
enum options_result settings_parse(struct options *o, enum profile_program program, void *settings,
                                   int argc, char **argv, int *first_operand, FILE *out,
                                   char *error);

#endif
