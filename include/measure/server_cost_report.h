/* SPDX-License-Identifier: MIT
 * server_cost_report: prints what the run cost the watched server, as text and as JSON.  Judges
 * nothing. */
#ifndef TCPSCALER_MEASURE_SERVER_COST_REPORT_H
#define TCPSCALER_MEASURE_SERVER_COST_REPORT_H

#include "base/json.h"
#include "measure/server_cost.h"

#include <stdio.h>

/* Up to seven lines of the summary. */
void server_cost_report_text(FILE *out, const struct server_cost *cost);

/* "1,200 B (1,180 B to 1,220 B at 95 % confidence)"; NULL: unknown. */
#define SERVER_COST_SLOPE_BYTES 128
const char *server_cost_slope_text(char text[SERVER_COST_SLOPE_BYTES], const struct slope *slope);

/* What a missing figure requires, or what a figure does not show. */
enum server_cost_note {
    SERVER_COST_NOTE_REUSED, /* memory of earlier connections */
    SERVER_COST_NOTE_MEMORY,
    SERVER_COST_NOTE_KERNEL,
    SERVER_COST_NOTE_CPU,
    SERVER_COST_N_NOTES
};

/* Returns the note, without a full stop: `text` or a constant; NULL if it does not apply. */
#define SERVER_COST_NOTE_BYTES 160
const char *server_cost_note(char text[SERVER_COST_NOTE_BYTES], const struct server_cost *c,
                             enum server_cost_note note);

/* Writes the object `server_cost` (docs/result.md), with at most most_rows samples at equal
 * distances, and the last one. */
void server_cost_report_json(struct json *j, const char *key, const struct server_cost *cost,
                             const struct watch_series *series, size_t most_rows);

/* The arrays `columns` and `samples`: a row per sample, null for unknown figures. */
void server_cost_report_samples(struct json *j, const struct watch_series *series,
                                size_t most_rows);

#endif
