/* SPDX-License-Identifier: MIT
 * client_opts: see client/opts.h. */
#include "client/opts.h"

#include "base/units.h"
#include "client/opts_check.h"
#include "client/opts_class.h"
#include "client/opts_classes.h"
#include "client/opts_demand.h"
#include "client/opts_find.h"
#include "client/opts_load.h"
#include "client/opts_transport.h"
#include "client/start_time.h"
#include "client/worker/config.h"
#include "config/options_config.h"
#include "config/options_conflict.h"
#include "config/options_rows.h"
#include "config/options_value.h"
#include "config/settings.h"

#include <inttypes.h>
#include <stddef.h>

static const struct client_opts defaults = {
    .port = 4242,
    .connections = 1,
    .seed = 42,
    .sample_one_in = 1,
    .connect_window = 256,
    .backoff = "100ms-10s",
    .connect_timeout_ns = 10 * UNITS_NS_PER_S,
    .settle_ns = 200 * UNITS_NS_PER_MS,
    .late_max_ns = 50 * UNITS_NS_PER_MS,
    .timeout_ns = 5 * UNITS_NS_PER_S,
    .find_time_ns = 420 * UNITS_NS_PER_S,
    .require = 3, /* p99 */
    .stats_interval_ns = 5 * UNITS_NS_PER_S,
};

/* Conflicts are checked before requirements, so that no message asks for an option that the next
 * message refuses. */
static int check_conflicts(struct client_opts *o, char *error)
{
    if (o->protocol == CLIENT_PROTOCOL_LISTEN && client_opts_check_listen(o, error) != 0)
        return -1;
    if (client_opts_check_find_conflicts(o, error) != 0 ||
        client_opts_check_class_conflicts(o, error) != 0 ||
        client_opts_check_transport(o, error) != 0 || client_opts_check_demand(o, error) != 0)
        return -1;
    return 0;
}

static int check_arrival(struct client_opts *o, char *error)
{
    if (o->find == CLIENT_FIND_CONNECT_RATE)
        return 0;
    if (o->conn_schedule != NULL)
        return REFUSE("--connect-arrival: conflicts with --conn-schedule: give only one");
    if (o->connect_rate_per_s <= 0)
        return REFUSE("--connect-arrival: requires --connect-rate, the connections per second");
    o->window_caps = was_given("connect-window");
    return 0;
}

static int check_connections(struct client_opts *o, char *error)
{
    char reason[BACKOFF_ERROR_BYTES];

    if (o->connect_arrival != CLIENT_CONNECT_WINDOW && check_arrival(o, error) != 0)
        return -1;
    if (o->threads > o->connections && o->conn_schedule == NULL)
        return REFUSE("--threads: invalid value '%" PRIu64
                      "': expected at most one per connection (%" PRIu64 ")",
                      o->threads, o->connections);
    if (o->conn_schedule != NULL && (was_given("connections") || was_given("duration")))
        return REFUSE("--conn-schedule: conflicts with --%s: the schedule sets it",
                      was_given("connections") ? "connections" : "duration");
    if (o->queries_per_conn > 0)
        o->reconnect = true;
    if (was_given("backoff") && o->on_demand)
        return REFUSE("--backoff: conflicts with --on-demand: the next query opens a connection");
    if (was_given("backoff") && !o->reconnect)
        return REFUSE("--backoff: requires --reconnect, --queries-per-conn or --find");
    if (backoff_parse(&o->waits, o->backoff, reason) != 0)
        return REFUSE("--backoff: %s", reason);
    if (!was_given("prove"))
        o->prove = default_prove(o);
    return client_opts_check_transport(o, error); /* again: a class may use TLS */
}

static int check_proxy(const struct client_opts *o, char *error)
{
    if (o->proxy != PROXY_HEADER_NONE && o->proxy_source == NULL)
        return REFUSE("--proxy-protocol: requires --proxy-source, the addresses to name");
    if (o->proxy == PROXY_HEADER_NONE && o->proxy_source != NULL)
        return REFUSE("--proxy-source: requires --proxy-protocol v1 or v2");
    return 0;
}

static int check_tls(const struct client_opts *o, char *error)
{
    static const char *const options[] = {"tls-name", "tls-ca",      "tls-insecure",
                                          "tls-min",  "tls-ciphers", "tls-resume"};
    const char *given = o->tls ? "tls" : NULL;

    for (size_t i = 0; i < N(options) && given == NULL; i++)
        given = was_given(options[i]) ? options[i] : NULL;
    if (given != NULL && o->protocol == CLIENT_PROTOCOL_LISTEN)
        return REFUSE("--%s: conflicts with --protocol listen: pushed messages are not encrypted",
                      given);
    if (given != NULL && o->transport == CLIENT_UDP)
        return REFUSE("--%s: conflicts with --transport udp: TLS runs over TCP", given);
    for (size_t i = 0; i < N(options); i++)
        if (!client_opts_uses_tls(o) && was_given(options[i]))
            return REFUSE("--%s: requires --tls%s", options[i],
                          o->tls ? ", which every class turns off" : "");
    if (o->tls_insecure && o->tls_ca != NULL)
        return REFUSE("--tls-insecure: conflicts with --tls-ca: nothing would be verified");
    return 0;
}

static int check_control(struct client_opts *o, char *error)
{
    if (o->control_token != NULL && o->control == NULL && o->server_control == NULL)
        return REFUSE("--control-token: requires --control or --server-control");
    if (o->watch != NULL && watch_target_parse(&o->watch_target, o->watch) != 0)
        return REFUSE("--watch: invalid value '%.100s': expected " WATCH_TARGET_ACCEPTED, o->watch);
    if (o->max_connections == 0 || o->find == CLIENT_FIND_CONNECTIONS ||
        o->find == CLIENT_FIND_CONNECT_RATE || o->sweep_axis == CLIENT_SWEEP_CONNECTIONS)
        return 0;
    if (o->find != CLIENT_FIND_NONE)
        return REFUSE("--max-connections: conflicts with --find rate: --connections is the number");
    if (o->conn_schedule != NULL)
        return REFUSE(
            "--max-connections: conflicts with --conn-schedule: the schedule sets the maximum");
    if (o->control == NULL)
        return REFUSE("--max-connections: requires --control");
    if (o->max_connections < o->connections)
        return REFUSE("--max-connections: invalid value '%" PRIu64
                      "': expected at least --connections (%" PRIu64 ")",
                      o->max_connections, o->connections);
    return 0;
}

static int check_start(struct client_opts *o, char *error)
{
    if (o->start_at != NULL && o->start_file != NULL)
        return REFUSE("--start-at: conflicts with --start-file: give only one");
    if (was_given("late-max") && o->start_at == NULL && o->start_file == NULL)
        return REFUSE("--late-max: requires --start-at or --start-file");
    if (o->start_at != NULL &&
        (start_time_parse(o->start_at, &o->start_epoch_ns) != 0 || o->start_epoch_ns == 0))
        return REFUSE("--start-at: invalid value '%.100s': expected " START_TIME_ACCEPTED,
                      o->start_at);
    return 0;
}

/* Goals on connecting, without a time when each connection is due. */
static int refuse_connect_goals(const struct client_opts *o, char *error)
{
    const struct options_conflict others[] = {
        {"--on-demand", o->on_demand, "queries open the connections"},
        {"--transport udp", o->transport == CLIENT_UDP, "a UDP socket has no handshake to time"},
        {"--conn-schedule", o->conn_schedule != NULL, "give only one"},
    };

    if (options_refuse_conflicts("--assert: 'connect.' requires --connect-arrival, which", others,
                                 N(others), error) != 0)
        return -1;
    return REFUSE("--assert: 'connect.' requires --connect-arrival, which sets when "
                  "connections are due");
}

/* Goals on queries need some; on connecting, a time when each connection is due. */
static int check_assertion(struct client_opts *o, char *error)
{
    char reason[SLO_ERROR_BYTES];

    if (o->assertion == NULL)
        return 0;
    if (slo_parse(&o->asserted, o->assertion, reason) != 0)
        return REFUSE("--assert: %s", reason);
    if (o->find != CLIENT_FIND_NONE)
        return REFUSE("--assert: conflicts with --find: give the goals as --slo");
    if (o->protocol == CLIENT_PROTOCOL_LISTEN)
        return REFUSE("--assert: conflicts with --protocol listen: nothing is queried");
    if (slo_has(&o->asserted, SLO_CONNECT) && o->connect_arrival == CLIENT_CONNECT_WINDOW)
        return refuse_connect_goals(o, error);
    if (slo_has(&o->asserted, SLO_CONNECT) && client_opts_uses_tls(o) &&
        !client_opts_all_use_tls(o))
        return REFUSE("--assert: 'connect.' requires TLS in all classes or in none");
    if ((slo_has(&o->asserted, SLO_RESPONSE) || slo_has(&o->asserted, SLO_SERVICE) ||
         slo_has(&o->asserted, SLO_LOST)) &&
        o->control == NULL && client_opts_rate_qps(o) <= 0 && !client_opts_has_schedule(o) &&
        !o->print_config)
        return REFUSE("--assert: requires --rate, --interval or a schedule");
    return 0;
}

static int check_rest(struct client_opts *o, char *error)
{
    const char *json_stdout =
        o->json != NULL && o->json[0] == '-' && o->json[1] == '\0' ? o->json : NULL;
    char given[UNITS_TEXT_BYTES];

    if (!o->raw && o->output == NULL && (was_given("raw-full") || was_given("sample")))
        return REFUSE("--%s: requires --raw or --output",
                      was_given("sample") ? "sample" : "raw-full");
    if (o->on_demand && o->control == NULL && client_opts_rate_qps(o) <= 0 &&
        !client_opts_has_schedule(o) && !o->print_config)
        return REFUSE("--on-demand: requires --rate, --interval or a schedule");
    if (o->warmup_ns > 0 && o->protocol != CLIENT_PROTOCOL_LISTEN && client_opts_rate_qps(o) <= 0 &&
        !client_opts_has_schedule(o))
        return REFUSE("--warmup: requires --rate, --interval or a schedule");
    if (o->stats_interval_ns > 0 && o->stats_interval_ns < OPTIONS_MIN_STATS_NS)
        return REFUSE("--stats-interval: invalid value '%s': " OPTIONS_STATS_ACCEPTED,
                      units_write_duration(given, o->stats_interval_ns));
    if (was_given("duration") && o->duration_ns == 0)
        return REFUSE("--duration: invalid value '0': expected a time greater than 0");
    if (json_stdout != NULL && o->raw && o->output == NULL)
        return REFUSE("--json: '-' and --raw both write to stdout: give one of them a file");
    if (!was_given("drain") && o->protocol != CLIENT_PROTOCOL_LISTEN)
        o->drain_ns = o->timeout_ns;
    if (o->output != NULL)
        o->raw = true;
    return 0;
}

/* The setting of higher precedence determines the port. */
static int check_port(struct client_opts *o, char *error)
{
    struct options *table = client_opts_table();
    const enum options_source target = options_given_at(table, "target"),
                              port = options_given_at(table, "port");

    if (o->server.port != 0 && port == target && o->server.port != o->port)
        return REFUSE("--port: %u conflicts with '%s'", o->port, o->target);
    if (o->server.port != 0 && port > target) {
        o->target = o->server.host;
        o->server.port = 0;
    }
    if (o->server.port == 0) {
        o->server.port = o->port;
    } else {
        options_outrank(table, o, &defaults, "target", "port");
        o->port = o->server.port;
    }
    return 0;
}

static int check_host(struct client_opts *o, int n_operands, char **operands, char *error)
{
    if (n_operands > 1)
        return REFUSE("unexpected argument '%.60s' after '%.60s': expected one HOST[:PORT]",
                      operands[1], operands[0]);
    if (n_operands == 1) {
        o->target = operands[0];
        options_mark_given(client_opts_table(), "target");
    }
    if (o->target == NULL)
        return o->print_config ? 0 : REFUSE("missing HOST: usage: tcpclient [options] HOST[:PORT]");
    if (endpoint_parse(o->target, &o->server) != 0)
        return REFUSE(
            "HOST: invalid value '%.100s': expected NAME, NAME:PORT, ADDRESS or [IPV6]:PORT "
            "with a port from 1 to 65535",
            o->target);
    return check_port(o, error);
}

/* A schedule replaces a duration of lower precedence.  A duration replaces no schedule, which also
 * sets the load: that conflict is refused. */
static void resolve_duration(struct client_opts *o)
{
    static const char *const schedules[] = {"schedule", "stdin", "stdin-rateslope",
                                            "conn-schedule"};
    struct options *table = client_opts_table();

    for (size_t i = 0; i < N(schedules); i++)
        if (options_given_at(table, "duration") < options_given_at(table, schedules[i]))
            options_outrank(table, o, &defaults, "duration", schedules[i]);
}

/* Resolves options that exclude each other: the setting of higher precedence wins. */
static void resolve_conflicts(struct client_opts *o)
{
    static const char *const pairs[][2] = {
        {"rate", "interval"},
        {"rate", "schedule"},
        {"rate", "stdin"},
        {"interval", "schedule"},
        {"interval", "stdin"},
        {"interval", "stdin-rateslope"},
        {"connections", "conn-schedule"},
        {"schedule", "stdin"},
        {"schedule", "stdin-rateslope"},
        {"stdin", "stdin-rateslope"},
        {"query-file", "qname"},
        {"tls-insecure", "tls-ca"},
        {"start-at", "start-file"},
    };

    for (size_t i = 0; i < N(pairs); i++)
        options_outrank(client_opts_table(), o, &defaults, pairs[i][0], pairs[i][1]);
    resolve_duration(o);
}

enum options_result client_opts_parse(struct client_opts *opts, int argc, char **argv, FILE *out,
                                      char *error)
{
    struct options *table = client_opts_table();
    int first;
    enum options_result result;

    *opts = defaults;
    result = settings_parse(table, PROFILE_CLIENT, opts, argc, argv, &first, out, error);
    if (result != OPTIONS_RUN)
        return result;
    resolve_conflicts(opts);
    if (check_conflicts(opts, error) != 0 || client_opts_check_load(opts, error) != 0 ||
        client_opts_check_find(opts, error) != 0 || client_opts_check_classes(opts, error) != 0 ||
        check_connections(opts, error) != 0 || check_proxy(opts, error) != 0 ||
        check_tls(opts, error) != 0 || check_control(opts, error) != 0 ||
        check_start(opts, error) != 0 || check_assertion(opts, error) != 0 ||
        check_rest(opts, error) != 0 || check_host(opts, argc - first, argv + first, error) != 0)
        return OPTIONS_USAGE;
    if (opts->print_config) {
        options_print_config(table, opts, out);
        return OPTIONS_EXIT;
    }
    return OPTIONS_RUN;
}

double client_opts_rate_qps(const struct client_opts *opts)
{
    if (opts->n_classes > 0)
        return client_opts_classes_rate_qps(opts);
    return opts->interval_ns > 0 ? (double)opts->connections * 1e9 / (double)opts->interval_ns
                                 : opts->rate_qps;
}
