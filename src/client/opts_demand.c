/* SPDX-License-Identifier: MIT
 * client_opts_demand: see client/opts_demand.h. */
#include "client/opts_demand.h"

#include "client/opts_check.h"
#include "client/worker/config.h"
#include "config/options_conflict.h"

#include <stddef.h>

int client_opts_check_demand(const struct client_opts *o, char *error)
{
    /* other ways to open and reopen connections */
    const struct options_conflict others[] = {
        {"--protocol listen", o->protocol == CLIENT_PROTOCOL_LISTEN, "listeners send no queries"},
        {"--find", o->find != CLIENT_FIND_NONE, "the search opens the connections"},
        {"--conn-schedule", o->conn_schedule != NULL, "queries open the connections"},
        {"--connect-arrival", o->connect_arrival != CLIENT_CONNECT_WINDOW,
         "queries open the connections"},
        {"--max-connections", o->max_connections != 0, "queries open the connections"},
        {"--queries-per-conn", o->queries_per_conn > 0, "idle connections are closed"},
        {"--reconnect", o->reconnect, "the next query opens a connection"},
        {"--loop closed", o->loop == CLIENT_LOOP_CLOSED, "queries are due on schedule"},
        {"--prove yes", o->prove == CLIENT_YES && was_given("prove"),
         "the first query proves a connection"},
    };
    const char *dependent = o->idle_close_ns > 0 ? "--idle-close"
                            : o->keepalive       ? "--keepalive"
                                                 : NULL;

    if (o->on_demand)
        return options_refuse_conflicts("--on-demand:", others, N(others), error);
    if (dependent != NULL)
        return options_refuse_without(dependent, "--on-demand", others, N(others), error);
    return 0;
}
