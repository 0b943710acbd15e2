/* SPDX-License-Identifier: MIT
 * report_json_queries: prints the counts of queries as keys of an object. */
#ifndef TCPSCALER_CLIENT_REPORT_JSON_QUERIES_H
#define TCPSCALER_CLIENT_REPORT_JSON_QUERIES_H

#include "base/json.h"
#include "measure/tally.h"

void report_json_queries(struct json *j, const struct tally_queries *q);

#endif
