/* SPDX-License-Identifier: MIT
 * server_cost_reader: reads what a run cost the watched server, and the samples, from JSON.  Pure.
 */
#ifndef TCPSCALER_REPORT_SERVER_COST_READER_H
#define TCPSCALER_REPORT_SERVER_COST_READER_H

#include "measure/server_cost.h"

struct json_object;

/* Reads the object `server_cost` of a result; figures that are missing or beyond all bounds are
 * unknown.  Returns 0, or -1 if it is NULL. */
int server_cost_read(struct server_cost *c, const struct json_object *object);

/* Reads `columns` and `samples` of such an object or of a file of tcpreport watch; unknown columns
 * are left out, and so are samples before from_ns or after to_ns, in ns since the epoch.  Returns
 * 0, also without samples; or -1 if the columns are missing, a row has no time or an earlier one
 * than the row before, or memory runs out.  Free in either case. */
int server_cost_read_samples(struct watch_series *series, const struct json_object *object,
                             uint64_t from_ns, uint64_t to_ns);

#endif
