/* SPDX-License-Identifier: MIT
 * options_json: prints the effective settings for the JSON result.  See config/options.h. */
#ifndef TCPSCALER_CONFIG_OPTIONS_JSON_H
#define TCPSCALER_CONFIG_OPTIONS_JSON_H

#include "config/options.h"

struct json;

/* The effective settings as one object: long name -> value; durations in seconds. */
void options_json(const struct options *o, const void *settings, struct json *j, const char *key);

#endif
