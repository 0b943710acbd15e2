/* SPDX-License-Identifier: MIT
 * client_opts_find: see client/opts_find.h. */
#include "client/opts_find.h"

#include "base/units.h"
#include "client/find_settings.h"
#include "client/opts_check.h"
#include "client/opts_sweep.h"
#include "client/search/search.h"
#include "client/worker/config.h"
#include "config/options_conflict.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_QPS      1e9
#define DEFAULT_WIDTH "2%"
#define BACKOFF       "100ms-1s" /* shorter than the default: trials wait for connections */

/* With connect-rate: the limit on connections in progress, as many as arrive in 2 s at the highest
 * rate, but not too few, and no more than one address has ports; and the timeout after which trials
 * go on. */
#define UNDER_WAY_S     2
#define LEAST_UNDER_WAY 1000
#define MOST_UNDER_WAY  20000
#define TIMEOUT_NS      (3 * UNITS_NS_PER_S)

static int refuse_without_find(char *error)
{
    static const char *const options[] = {"find-range", "find-width", "find-time",
                                          "find-out",   "sweep",      "sweep-out"};

    if (was_given("slo"))
        return REFUSE("--slo: requires --find: give the goals of a run as --assert");
    for (size_t i = 0; i < N(options); i++)
        if (was_given(options[i]))
            return REFUSE("--%s: requires --find", options[i]);
    return 0;
}

/* With connect-rate, each query opens a connection when it is due. */
static int refuse_kept_connections(const struct client_opts *o, char *error)
{
    const char *given = was_given("select")    ? "select"
                        : o->reconnect         ? "reconnect"
                        : was_given("backoff") ? "backoff"
                                               : NULL;

    if (given != NULL)
        return REFUSE("--%s: conflicts with --find connect-rate: each query opens a connection",
                      given);
    if (was_given("connect-arrival") && o->connect_arrival == CLIENT_CONNECT_WINDOW)
        return REFUSE("--connect-arrival: 'window' conflicts with --find connect-rate: connections "
                      "are opened when they are due");
    return 0;
}

/* The search sets the load and its duration.  A 0 that turns an option off is no conflict: it
 * cancels what a configuration file sets. */
int client_opts_check_find_conflicts(const struct client_opts *o, char *error)
{
    static const char sets_load[] = "the search sets the load", give_range[] = "give --find-range";
    const struct options_conflict others[] = {
        {"--interval", was_given("interval"), sets_load},
        {"--schedule", o->schedule != NULL, sets_load},
        {"--stdin", o->steps_from_stdin, sets_load},
        {"--stdin-rateslope", o->slopes_from_stdin, sets_load},
        {"--duration", was_given("duration"), sets_load},
        {"--warmup", o->warmup_ns > 0, sets_load},
        {"--conn-schedule", o->conn_schedule != NULL, sets_load},
        {"--queries-per-conn", o->queries_per_conn > 0, sets_load},
        {"--loop closed", o->loop == CLIENT_LOOP_CLOSED, sets_load},
        {"--protocol listen", o->protocol == CLIENT_PROTOCOL_LISTEN,
         "tcpserver --push sets the rate"},
    };
    const struct options_conflict of_rate[] = {{"--rate", o->rate_qps > 0, give_range}};
    const struct options_conflict of_connections[] = {
        {"--connections", was_given("connections"), give_range},
        {"--max-connections", was_given("max-connections"), give_range},
    };
    const struct options_conflict of_connect_rate[] = {
        {"--rate", o->rate_qps > 0, give_range},
        {"--connections", was_given("connections"), give_range},
        {"--connect-rate", o->connect_rate_per_s > 0, give_range},
        {"--connect-window", was_given("connect-window"), "give --max-connections"},
        {"--prove", was_given("prove"), "each connection sends one query"},
    };

    if (o->find == CLIENT_FIND_NONE)
        return 0;
    if (options_refuse_conflicts("--find:", others, N(others), error) != 0)
        return -1;
    if (o->find == CLIENT_FIND_RATE)
        return options_refuse_conflicts("--find: 'rate'", of_rate, N(of_rate), error);
    if (o->find == CLIENT_FIND_CONNECTIONS)
        return options_refuse_conflicts("--find: 'connections'", of_connections, N(of_connections),
                                        error);
    if (options_refuse_conflicts("--find: 'connect-rate'", of_connect_rate, N(of_connect_rate),
                                 error) != 0)
        return -1;
    return refuse_kept_connections(o, error);
}

/* "1k-100k" */
static int parse_range(struct client_opts *o, char *error)
{
    const bool whole = o->find == CLIENT_FIND_CONNECTIONS;
    const double most = whole ? CLIENT_OPTS_MOST_CONNECTIONS : MOST_QPS;
    char text[2 * UNITS_TEXT_BYTES];
    char *max;

    if (o->find_range == NULL)
        return o->print_config ? 0
                               : REFUSE("--find: requires --find-range MIN-MAX, the loads to try");
    if (strlen(o->find_range) < sizeof text) {
        snprintf(text, sizeof text, "%s", o->find_range);
        max = strchr(text, '-');
        if (max != NULL) {
            *max++ = '\0';
            if (units_parse_rate(text, &o->find_min) == 0 &&
                units_parse_rate(max, &o->find_max) == 0 && o->find_min > 0 &&
                o->find_min < o->find_max && o->find_max <= most &&
                (!whole ||
                 (floor(o->find_min) == o->find_min && floor(o->find_max) == o->find_max)))
                return 0;
        }
    }
    return REFUSE(
        "--find-range: invalid value '%.100s': expected MIN-MAX, MIN above 0 and below MAX, MAX at "
        "most %s%s",
        o->find_range, units_format_count(text, (uint64_t)most),
        whole ? ", in whole connections" : " per second");
}

static int parse_width(struct client_opts *o, char *error)
{
    const char *text = o->find_width != NULL ? o->find_width : DEFAULT_WIDTH;

    if (units_parse_percent(text, &o->find_part) != 0 || o->find_part < 0.001 || o->find_part > 0.5)
        return REFUSE("--find-width: invalid value '%.100s': expected 0.1%% to 50%%", text);
    return 0;
}

static int parse_goals(struct client_opts *o, char *error)
{
    char reason[SLO_ERROR_BYTES];

    if (slo_parse(&o->goals, o->slo != NULL ? o->slo : SLO_DEFAULT, reason) != 0)
        return REFUSE("--slo: %s", reason);
    if (slo_has(&o->goals, SLO_CONNECT) && o->find != CLIENT_FIND_CONNECT_RATE)
        return REFUSE("--slo: 'connect.' requires --find connect-rate: otherwise connections are "
                      "opened between the trials");
    return 0;
}

/* A search without time for its first trial would say nothing about the server. */
static int check_time(const struct client_opts *o, char *error)
{
    const struct client_find_settings settings = client_find_settings_of(o);
    char given[UNITS_TEXT_BYTES], load[UNITS_TEXT_BYTES], length[UNITS_TEXT_BYTES],
        least[UNITS_TEXT_BYTES];
    struct search_config search;
    struct search_order first;
    uint64_t least_s;

    if (o->find_range == NULL) /* with --print-config */
        return 0;
    search = client_find_settings_search(&settings, (unsigned)o->threads);
    least_s = (search_least_time_ns(&search, &first) + UNITS_NS_PER_S - 1) / UNITS_NS_PER_S;
    if (o->find_time_ns / UNITS_NS_PER_S >= least_s)
        return 0;
    return REFUSE("--find-time: '%s' is too short: the first trial, %s %s, takes %s, and a "
                  "confirmation follows: give at least %s, or %s",
                  units_write_duration(given, o->find_time_ns),
                  units_format_decimal(load, first.load), client_find_settings_unit(o->find),
                  units_format_duration(length, first.duration_ns),
                  units_write_duration(least, least_s * UNITS_NS_PER_S),
                  o->find == CLIENT_FIND_CONNECTIONS ? "a higher --rate"
                                                     : "a --find-range with larger loads");
}

/* Each query has a connection of its own. */
static void set_connect_rate(struct client_opts *o)
{
    const double n = fmin(MOST_UNDER_WAY, fmax(LEAST_UNDER_WAY, UNDER_WAY_S * o->find_max));

    if (o->connect_arrival != CLIENT_CONNECT_WINDOW)
        o->arrival = (int)client_config_pacing_of(o->connect_arrival);
    o->connections = o->max_connections != 0 ? o->max_connections : (uint64_t)n;
    if (!was_given("connect-timeout"))
        o->connect_timeout_ns = TIMEOUT_NS;
    if (!was_given("timeout"))
        o->timeout_ns = TIMEOUT_NS;
}

/* The first load of a search for connections: a thread has part of the queries, and needs one. */
static double first_connections(const struct client_opts *o)
{
    const double first = fmax(o->find_min, floor(o->find_max / 100 + 0.5));

    return fmin(o->find_max, fmax(first, (double)o->threads));
}

/* Connections lost in an overload are opened again for the next trial. */
static void set_connections(struct client_opts *o)
{
    o->reconnect = true;
    if (!was_given("backoff"))
        o->backoff = BACKOFF;
    if (o->find == CLIENT_FIND_CONNECT_RATE)
        set_connect_rate(o);
    if (o->find != CLIENT_FIND_CONNECTIONS || o->find_range == NULL)
        return;
    o->connections = (uint64_t)first_connections(o);
    o->max_connections = (uint64_t)o->find_max;
}

/* Returns the longest that a time of this kind can be, since the query or connection was due;
 * whatever takes longer is given up. */
static uint64_t longest_ns(const struct client_opts *o, enum slo_metric metric)
{
    const uint64_t n_steps = o->tls ? 2 : 1; /* the handshake has as long as the connect before */
    const uint64_t connect_ns =
        o->find == CLIENT_FIND_CONNECT_RATE ? n_steps * o->connect_timeout_ns : 0;

    return metric == SLO_CONNECT   ? connect_ns
           : metric == SLO_SERVICE ? o->timeout_ns
                                   : connect_ns + o->timeout_ns;
}

/* With a longer limit, answers between the timeout and the limit would miss the goal. */
static int check_limits(const struct client_opts *o, char *error)
{
    char longest[UNITS_TEXT_BYTES];

    for (unsigned i = 0; i < o->goals.n; i++) {
        const struct slo_goal *goal = &o->goals.goals[i];
        const uint64_t ns = longest_ns(o, goal->metric);

        if (goal->limit_ns > ns)
            return REFUSE("--slo: '%s' requires a longer --%s: whatever takes more than %s is "
                          "given up",
                          goal->text, goal->metric == SLO_CONNECT ? "connect-timeout" : "timeout",
                          units_write_duration(longest, ns));
    }
    return 0;
}

int client_opts_check_find(struct client_opts *o, char *error)
{
    if (o->find == CLIENT_FIND_NONE)
        return refuse_without_find(error);
    if (o->find == CLIENT_FIND_CONNECTIONS && o->rate_qps <= 0 && !o->print_config)
        return REFUSE("--find: 'connections' requires --rate, the load at every number of them");
    if (parse_range(o, error) != 0 || parse_width(o, error) != 0 || parse_goals(o, error) != 0)
        return -1;
    if (check_time(o, error) != 0)
        return -1;
    set_connections(o);
    if (check_limits(o, error) != 0)
        return -1;
    return client_opts_check_sweep(o, error);
}

const char *client_opts_limit_option(const struct client_opts *o)
{
    return o->find == CLIENT_FIND_CONNECT_RATE         ? "max-connections"
           : o->find == CLIENT_FIND_CONNECTIONS        ? "find-range"
           : o->sweep_axis == CLIENT_SWEEP_CONNECTIONS ? "sweep"
                                                       : "connections";
}
