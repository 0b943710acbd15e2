/* SPDX-License-Identifier: MIT
 * client_plan_query: encodes the queries that options ask for. */
#ifndef TCPSCALER_CLIENT_PLAN_QUERY_H
#define TCPSCALER_CLIENT_PLAN_QUERY_H

#include "client/opts_table.h"
#include "client/worker/config.h"
#include "protocol/query.h"

/* Reads --query-file, if any.  class: the name of the class that has these options; NULL: the run.
 * Returns 0, or -1 after one line on stderr.  Free the query with query_free(). */
int client_plan_query(struct query *query, const struct client_opts *opts, const char *class);

/* Sets config->listens and config->query and, with --sweep size, encodes one query per value into
 * sizes (CLIENT_SWEEP_MOST, all zero), which config->sizes then borrows.  With --protocol listen
 * there are none.  Returns like client_plan_query().  Free with client_plan_queries_free(), also
 * after a failure. */
int client_plan_queries(struct client_config *config, struct query *sizes,
                        const struct client_opts *opts);

void client_plan_queries_free(struct client_config *config, struct query *sizes);

#endif
