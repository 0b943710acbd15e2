/* SPDX-License-Identifier: MIT
 * options_json: the settings in force, for the JSON result. */
#ifndef TCPSCALER_CONFIG_OPTIONS_JSON_H
#define TCPSCALER_CONFIG_OPTIONS_JSON_H

#include "config/options.h"

struct json;

/* The settings in force, given or default, as one object: long name -> value; durations in seconds.
 */
void options_json(const struct options *o, const void *settings, struct json *j, const char *key);

#endif
