/* SPDX-License-Identifier: MIT
 * client_opts_demand: see client/opts_demand.h. */
#include "client/opts_demand.h"

#include "client/opts_check.h"
#include "client/worker/config.h"
#include "config/options_conflict.h"

#include <stddef.h>
#include <stdio.h>

/* Other ways to open and reopen connections.  subject: --on-demand, or an option that requires it.
 */
static int refuse_others(const struct client_opts *o, const char *subject, char *error)
{
    const struct options_conflict others[] = {
        {"--protocol listen", o->protocol == CLIENT_PROTOCOL_LISTEN, "listeners send no queries"},
        {"--find", o->find != CLIENT_FIND_NONE, "the search keeps its connections open"},
        {"--conn-schedule", o->conn_schedule != NULL, "queries open the connections"},
        {"--connect-arrival", o->connect_arrival != CLIENT_CONNECT_WINDOW,
         "queries open the connections"},
        {"--max-connections", o->max_connections != 0, "queries open the connections"},
        {"--queries-per-conn", o->queries_per_conn > 0, "idle connections are closed"},
        {"--reconnect", o->reconnect, "the next query opens a connection"},
        {"--loop closed", o->loop == CLIENT_LOOP_CLOSED, "queries are due on schedule"},
        {"--prove yes", o->prove == 0 && was_given("prove"), "the first query proves a connection"},
    };

    return options_refuse_conflicts(subject, others, N(others), error);
}

int client_opts_check_demand(const struct client_opts *o, char *error)
{
    if (o->on_demand)
        return refuse_others(o, "--on-demand:", error);
    if (o->idle_close_ns > 0)
        return refuse_others(o, "--idle-close: requires --on-demand, which", error) != 0
                   ? -1
                   : REFUSE("--idle-close: requires --on-demand");
    if (o->keepalive)
        return refuse_others(o, "--keepalive: requires --on-demand, which", error) != 0
                   ? -1
                   : REFUSE("--keepalive: requires --on-demand");
    return 0;
}
