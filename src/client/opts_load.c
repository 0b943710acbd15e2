/* SPDX-License-Identifier: MIT
 * client_opts_load: see client/opts_load.h. */
#include "client/opts_load.h"

#include "base/units.h"
#include "client/opts_check.h"
#include "client/worker/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LISTEN_DRAIN_NS UNITS_NS_PER_S

int client_opts_check_listen(struct client_opts *o, char *error)
{
    const struct {
        const char *name;
        bool is_used; /* a 0 that turns it off cancels what a configuration file sets */
    } of_queries[] = {
        {"rate", o->rate_qps > 0},
        {"interval", was_given("interval")},
        {"schedule", o->schedule != NULL},
        {"stdin", o->steps_from_stdin},
        {"stdin-rateslope", o->slopes_from_stdin},
        {"arrival", was_given("arrival")},
        {"select", was_given("select")},
        {"loop", was_given("loop")},
        {"queries-per-conn", o->queries_per_conn > 0},
        {"on-timeout", was_given("on-timeout")},
        {"slo", was_given("slo")},
    };

    for (size_t i = 0; i < N(of_queries); i++)
        if (of_queries[i].is_used)
            return REFUSE(
                "--%s: --protocol listen sends no queries: tcpserver --push sets the rate",
                of_queries[i].name);
    if (o->conn_schedule != NULL)
        return REFUSE(
            "--conn-schedule: conflicts with --protocol listen: listeners stay open to the end");
    if (!was_given("drain"))
        o->drain_ns = LISTEN_DRAIN_NS;
    return 0;
}

static int check_schedule(const struct client_opts *o, char *error)
{
    const char *name = o->schedule != NULL    ? "schedule"
                       : o->steps_from_stdin  ? "stdin"
                       : o->slopes_from_stdin ? "stdin-rateslope"
                                              : NULL;

    if (name == NULL)
        return 0;
    if ((o->schedule != NULL) + o->steps_from_stdin + o->slopes_from_stdin > 1)
        return REFUSE("--%s: conflicts with --%s: give only one", name,
                      o->slopes_from_stdin ? "stdin-rateslope" : "stdin");
    if (was_given("duration"))
        return REFUSE("--%s: conflicts with --duration: the schedule sets it", name);
    if (was_given("interval"))
        return REFUSE("--%s: conflicts with --interval: the schedule sets the rates", name);
    if (o->slopes_from_stdin && !was_given("rate"))
        return REFUSE("--stdin-rateslope: requires --rate, the initial rate");
    if (!o->slopes_from_stdin && was_given("rate"))
        return REFUSE("--%s: conflicts with --rate: the schedule sets the rates", name);
    return 0;
}

static int check_query(const struct client_opts *o, char *error)
{
    static const char *const of_dns[] = {"qname",  "qtype",   "query-file", "edns",
                                         "dnssec", "padding", "keepalive"};

    for (size_t i = 0; i < N(of_dns); i++)
        if (o->protocol != QUERY_DNS && was_given(of_dns[i]))
            return REFUSE("--%s: requires --protocol dns", of_dns[i]);
    if (o->query_file != NULL && o->qname != NULL)
        return REFUSE("--query-file: conflicts with --qname: the file sets the names");
    if (o->query_file != NULL && strcmp(o->query_file, "-") == 0 &&
        (o->steps_from_stdin || o->slopes_from_stdin))
        return REFUSE("--query-file: '-' and --%s both read stdin: give a file",
                      o->steps_from_stdin ? "stdin" : "stdin-rateslope");
    if (o->protocol != QUERY_ECHO && was_given("size"))
        return REFUSE("--size: requires --protocol echo");
    return 0;
}

static int check_closed_loop(const struct client_opts *o, char *error)
{
    static const char *const schedules[] = {"schedule", "stdin", "stdin-rateslope"};

    for (size_t i = 0; i < N(schedules); i++)
        if (was_given(schedules[i]))
            return REFUSE("--loop: 'closed' conflicts with --%s: queries follow the answers",
                          schedules[i]);
    if (o->class.n > 0 || was_given("interval"))
        return 0;
    if (was_given("rate"))
        return REFUSE("--loop: 'closed' conflicts with --rate: give --interval");
    return REFUSE("--loop: 'closed' requires --interval");
}

int client_opts_check_load(struct client_opts *o, char *error)
{
    if (o->loop == CLIENT_LOOP_CLOSED && check_closed_loop(o, error) != 0)
        return -1;
    if (check_schedule(o, error) != 0)
        return -1;
    if (was_given("interval") && was_given("rate"))
        return REFUSE("--interval: conflicts with --rate: give only one");
    if (check_query(o, error) != 0)
        return -1;
    if (o->busy_poll && was_given("pace") && o->pace != CLIENT_PACE_SPIN)
        return REFUSE("--busy-poll: conflicts with --pace: its pace is spin");
    if (was_given("interval") && !was_given("arrival"))
        o->arrival = PACER_CONSTANT;
    if (was_given("interval") && !was_given("select"))
        o->select = CLIENT_SELECT_ROUND_ROBIN;
    return 0;
}
