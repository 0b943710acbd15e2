/* SPDX-License-Identifier: MIT
 * settings: gathers a program's settings from a profile (--profile), a file (--config) and the
 * command line, each overriding the previous one.  The environment is not used. */
#ifndef TCPSCALER_CONFIG_SETTINGS_H
#define TCPSCALER_CONFIG_SETTINGS_H

#include "config/options.h"
#include "config/profile.h"

/* Like options_parse(), with the texts that the command line names; the table owns them until the
 * next call.  --profile list returns OPTIONS_EXIT. */
enum options_result settings_parse(struct options *o, enum profile_program program, void *settings,
                                   int argc, char **argv, int *first_operand, FILE *out,
                                   char *error);

#endif
