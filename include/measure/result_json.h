/* SPDX-License-Identifier: MIT
 * result_json: the first keys of every JSON result (docs/result.schema.json). */
#ifndef TCPSCALER_MEASURE_RESULT_JSON_H
#define TCPSCALER_MEASURE_RESULT_JSON_H

#include "base/json.h"

#include <stdint.h>
#include <stdio.h>

#define RESULT_JSON_SCHEMA 1 /* changes when a key is removed or changes its meaning */

/* Begins the result of a program: schema, program and version. */
void result_json_begin(struct json *j, FILE *out, const char *program, const char *version);

/* Adds the state of a run and when it started, in ns since the epoch. */
void result_json_run(struct json *j, const char *state, uint64_t started_epoch_ns);

#endif
