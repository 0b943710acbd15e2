/* SPDX-License-Identifier: MIT
 * outcome_report: prints counts by phase and reason, as text, messages, JSON and metrics. */
#ifndef TCPSCALER_MEASURE_OUTCOME_REPORT_H
#define TCPSCALER_MEASURE_OUTCOME_REPORT_H

#include "measure/tally.h"

#include <stdbool.h>
#include <stdio.h>

struct json;
struct openmetrics;

/* One line for each count above 0, "COUNT  phase: reason", followed by the remedy if requested and
 * if something is wrong.  title precedes the first line; nothing is printed if all counts are 0. */
void outcome_report_text(FILE *out, const char *title,
                         const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS],
                         bool with_remedies);

/* Logs one line for each count above 0 if something is wrong, "COUNT connections: phase: reason:
 * remedy". */
void outcome_report_log(const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS]);

/* An object: "phase/reason": count for each count above 0. */
void outcome_report_json(struct json *j, const char *key,
                         const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS]);

/* A family with one sample for each count above 0, labelled outcome="phase/reason". */
void outcome_report_metrics(struct openmetrics *m, const char *family, const char *help,
                            const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS]);

#endif
