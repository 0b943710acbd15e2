/* SPDX-License-Identifier: MIT
 * options_rows: the options that mean the same in several programs: initializers of struct
 * option_row.  offset: of the field in the program's settings. */
#ifndef TCPSCALER_CONFIG_OPTIONS_ROWS_H
#define TCPSCALER_CONFIG_OPTIONS_ROWS_H

#include "base/units.h"
#include "config/options.h"

#include <stddef.h>

/* The longest time of an option: a leap year. */
#define OPTIONS_MOST_TIME_NS (366ull * 24 * 3600 * UNITS_NS_PER_S)

/* --stats-interval is 0 (never) or at least this: a shorter one would only print. */
#define OPTIONS_MIN_STATS_NS   UNITS_NS_PER_MS
#define OPTIONS_STATS_ACCEPTED "expected 0, or at least 1ms"

#define OPTIONS_ROW_CPU(offset)                                                                    \
    "cpu", 0, OPTION_TEXT, offset, "LIST",                                                         \
        "pin the threads to these CPUs, e.g. 0-3,6 (default: any)", 0, 0, NULL
#define OPTIONS_ROW_CONTROL(offset)                                                                \
    "control", 0, OPTION_TEXT, offset, "ADDR",                                                     \
        "serve the HTTP control API at ADDR:PORT or unix:PATH", 0, 0, NULL
#define OPTIONS_ROW_CONTROL_TOKEN(offset)                                                          \
    "control-token", 0, OPTION_TEXT, offset, "FILE",                                               \
        "token for control requests; required if ADDR is not loopback", 0, 0, NULL
#define OPTIONS_ROW_FORCE(offset)                                                                  \
    "force", 0, OPTION_FLAG, offset, NULL, "run even if the plan says stop", 0, 0, NULL
#define OPTIONS_ROW_CONFIG(offset)                                                                 \
    "config", 0, OPTION_CONFIG, offset, "FILE",                                                    \
        "read 'option = value' lines; the command line overrides them", 0, 0, NULL
#define OPTIONS_ROW_PROFILE(offset)                                                                \
    "profile", 0, OPTION_PROFILE, offset, "NAME",                                                  \
        "settings of a published run; --config overrides them; list: names", 0, 0, NULL
#define OPTIONS_ROW_PRINT_CONFIG(offset)                                                           \
    "print-config", 0, OPTION_COMMAND, offset, NULL,                                               \
        "print the settings in effect in --config format, then exit", 0, 0, NULL
#define OPTIONS_ROW_HELP "help", 'h', OPTION_HELP, 0, NULL, "print this and exit", 0, 0, NULL
#define OPTIONS_ROW_VERSION                                                                        \
    "version", 'V', OPTION_VERSION, 0, NULL, "print the version and exit", 0, 0, NULL

#endif
