/* SPDX-License-Identifier: MIT
 * server_opts: see server/opts.h. */
#include "server/opts.h"

#include "base/endpoint.h"
#include "base/units.h"
#include "config/options_config.h"
#include "config/options_conflict.h"
#include "config/options_rows.h"
#include "config/options_value.h"
#include "config/settings.h"
#include "protocol/push_message.h"
#include "server/config.h"

#include <stddef.h>

#define FIELD(name) offsetof(struct server_opts, name)

static const struct option_row rows[] = {
    {"port", 'p', OPTION_ANY_PORT, FIELD(port), "PORT", "same as the PORT argument, for --config",
     0, 0, NULL},
    {"bind", 0, OPTION_TEXT, FIELD(bind), "ADDRESS",
     "listen on this address only (default: ::, which includes IPv4)", 0, 0, NULL},
    {"protocol", 0, OPTION_CHOICE, FIELD(protocol), "NAME",
     "echo: return every byte; ping: answer Ping with Pong (default: echo)", 0, 0,
     SERVER_PROTOCOLS},
    {"push", 0, OPTION_RATE, FIELD(push_rate_per_s), "RATE",
     "push RATE messages per second in total instead of echoing", 0, 1000000000, NULL},
    {"push-size", 0, OPTION_BYTES, FIELD(push_bytes), "BYTES",
     "size of each message (default: 512)", PUSH_MIN_BYTES, PUSH_MAX_BYTES, NULL},
    {"push-select", 0, OPTION_CHOICE, FIELD(push_select), "KIND",
     "random (Poisson) or round-robin (constant intervals) (default: random)", 0, 0,
     SERVER_SELECTS},
    {"threads", 0, OPTION_AUTO, FIELD(threads), "N",
     "threads; auto: one per CPU, more as fd tables fill up (default: auto)", 1,
     SERVER_OPTS_MOST_THREADS, NULL},
    {OPTIONS_ROW_CPU(FIELD(cpu))},
    {"busy-poll", 0, OPTION_FLAG, FIELD(busy_poll), NULL,
     "never sleep: poll the sockets all the time", 0, 0, NULL},
    {"backlog", 0, OPTION_COUNT, FIELD(backlog), "N",
     "accept queue per thread, at most net.core.somaxconn (default: 4096)", 1, 1u << 30, NULL},
    {"max-connections", 'c', OPTION_COUNT, FIELD(max_connections), "N",
     "accept at most N connections at a time (default: as many as fit)", 1,
     SERVER_OPTS_MOST_CONNECTIONS, NULL},
    {"max-connections-per-source", 0, OPTION_COUNT, FIELD(max_per_source), "N",
     "accept at most N per IPv4 address or IPv6 /64 (default: no limit)", 1,
     SERVER_OPTS_MOST_CONNECTIONS, NULL},
    {"idle-timeout", 0, OPTION_DURATION, FIELD(idle_timeout_ns), "TIME",
     "close connections idle for TIME; 0: never (default: 0)", 0, OPTIONS_MOST_TIME_NS, NULL},
    {"proxy-protocol", 0, OPTION_FLAG, FIELD(proxy), NULL,
     "require a PROXY header, v1 or v2, on every connection", 0, 0, NULL},
    {"sndbuf", 0, OPTION_BYTES, FIELD(sndbuf_bytes), "BYTES",
     "send buffer per socket; 0: the kernel's (default: 64KiB)", 0, 1u << 30, NULL},
    {"rcvbuf", 0, OPTION_BYTES, FIELD(rcvbuf_bytes), "BYTES",
     "receive buffer per socket; 0: the kernel's (default: 64KiB)", 0, 1u << 30, NULL},
    {"tls-cert", 0, OPTION_TEXT, FIELD(tls_cert), "FILE",
     "use TLS on every connection, with this certificate chain (PEM)", 0, 0, NULL},
    {"tls-key", 0, OPTION_TEXT, FIELD(tls_key), "FILE",
     "private key (PEM; default: in the --tls-cert file)", 0, 0, NULL},
    {"tls-min", 0, OPTION_CHOICE, FIELD(tls_min), "VERSION",
     "minimum TLS version: 1.2 or 1.3 (default: 1.2)", 0, 0, TLS_MINS},
    {"json", 0, OPTION_TEXT, FIELD(json), "FILE",
     "write the result as JSON to FILE at the end (-: stdout)", 0, 0, NULL},
    {"connections-out", 0, OPTION_TEXT, FIELD(connections_out), "FILE",
     "write one CSV row per connection served to FILE", 0, 0, NULL},
    {"stats-interval", 0, OPTION_DURATION, FIELD(stats_interval_ns), "TIME",
     "print statistics on stderr every TIME; 0: never (default: 0)", 0, OPTIONS_MOST_TIME_NS, NULL},
    {OPTIONS_ROW_CONTROL(FIELD(control))},
    {OPTIONS_ROW_CONTROL_TOKEN(FIELD(control_token))},
    {"user", 0, OPTION_TEXT, FIELD(user), "NAME[:GROUP]",
     "switch to NAME after binding the port, before writing any file", 0, 0, NULL},
    {"plan", 0, OPTION_FLAG, FIELD(plan), NULL,
     "print which limits apply to -c N and how to raise them, then exit", 0, 0, NULL},
    {OPTIONS_ROW_FORCE(FIELD(force))},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL,
     "no listening line, summary or warnings; errors still go to stderr", 0, 0, NULL},
    {"verbose", 'v', OPTION_COUNTER, FIELD(verbose), NULL, "print more about threads and limits", 0,
     0, NULL},
    {OPTIONS_ROW_CONFIG(FIELD(config))},
    {OPTIONS_ROW_PROFILE(FIELD(profile))},
    {OPTIONS_ROW_PRINT_CONFIG(FIELD(print_config))},
    {OPTIONS_ROW_HELP},
    {OPTIONS_ROW_VERSION},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct server_opts defaults = {
    .port = 4242,
    .bind = "::",
    .backlog = 4096,
    .push_bytes = 512,
    .sndbuf_bytes = SERVER_OPTS_SOCKET_BUFFER_BYTES,
    .rcvbuf_bytes = SERVER_OPTS_SOCKET_BUFFER_BYTES,
};

struct options *server_opts_table(void)
{
    static unsigned char given[N_ROWS];
    static struct options table = {
        .program = "tcpserver",
        .usage = "[options] [PORT]",
        .summary = "Listens on PORT (default: 4242; 0: any free port) and echoes, answers pings or "
                   "pushes messages.",
        .version = TCPSCALER_VERSION,
        .rows = rows,
        .n_rows = N_ROWS,
        .given = given,
    };

    return &table;
}

static int check_push(const struct server_opts *o, char *error)
{
    static const char plain[] = "pushed messages are not encrypted";
    const struct options *table = server_opts_table();
    const struct options_conflict others[] = {
        {"--protocol", options_was_given(table, "protocol"), "subscribers get no answers"},
        {"--tls-cert", o->tls_cert != NULL, plain},
        {"--tls-key", options_was_given(table, "tls-key"), plain},
        {"--tls-min", options_was_given(table, "tls-min"), plain},
        {"--idle-timeout", o->idle_timeout_ns > 0, "subscribers send nothing"},
    };
    const size_t n_others = sizeof others / sizeof *others;
    const char *dependent = options_was_given(table, "push-size")     ? "--push-size"
                            : options_was_given(table, "push-select") ? "--push-select"
                                                                      : NULL;

    if (!options_was_given(table, "push"))
        return dependent != NULL
                   ? options_refuse_without(dependent, "--push", others, n_others, error)
                   : 0;
    if (o->push_rate_per_s > 0)
        return options_refuse_conflicts("--push:", others, n_others, error);
    snprintf(error, OPTIONS_ERROR_BYTES,
             "--push: invalid value '0': expected more than 0 messages per second");
    return -1;
}

static int check_stats(const struct server_opts *o, char *error)
{
    char given[UNITS_TEXT_BYTES];

    if (o->stats_interval_ns == 0 || o->stats_interval_ns >= OPTIONS_MIN_STATS_NS)
        return 0;
    snprintf(error, OPTIONS_ERROR_BYTES,
             "--stats-interval: invalid value '%s': " OPTIONS_STATS_ACCEPTED,
             units_write_duration(given, o->stats_interval_ns));
    return -1;
}

static int check_tls(const struct server_opts *o, char *error)
{
    static const char *const options[] = {"tls-key", "tls-min"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (o->tls_cert == NULL && options_was_given(server_opts_table(), options[i])) {
            snprintf(error, OPTIONS_ERROR_BYTES, "--%s: requires --tls-cert", options[i]);
            return -1;
        }
    return 0;
}

enum options_result server_opts_parse(struct server_opts *opts, int argc, char **argv, FILE *out,
                                      char *error)
{
    struct options *table = server_opts_table();
    enum options_result result;
    int first;

    *opts = defaults;
    result = settings_parse(table, PROFILE_SERVER, opts, argc, argv, &first, out, error);
    if (result != OPTIONS_RUN)
        return result;
    opts->bind_given = options_was_given(table, "bind");
    options_outrank(table, opts, &defaults, "push", "protocol");
    options_outrank(table, opts, &defaults, "push-size", "protocol");
    options_outrank(table, opts, &defaults, "push-select", "protocol");
    if (check_push(opts, error) != 0 || check_stats(opts, error) != 0 ||
        check_tls(opts, error) != 0)
        return OPTIONS_USAGE;
    if (opts->control_token != NULL && opts->control == NULL) {
        snprintf(error, OPTIONS_ERROR_BYTES, "--control-token: requires --control");
        return OPTIONS_USAGE;
    }
    if (argc - first > 1) {
        snprintf(error, OPTIONS_ERROR_BYTES,
                 "unexpected argument '%.60s' after '%.60s': expected one PORT", argv[first + 1],
                 argv[first]);
        return OPTIONS_USAGE;
    }
    if (argc - first == 1) {
        if (endpoint_parse_port(argv[first], 1, &opts->port) != 0) {
            snprintf(error, OPTIONS_ERROR_BYTES,
                     "PORT: invalid value '%.100s': expected 0 to 65535; for an address see --bind",
                     argv[first]);
            return OPTIONS_USAGE;
        }
        options_mark_given(table, "port");
    }
    if (opts->print_config) {
        options_print_config(table, opts, out);
        return OPTIONS_EXIT;
    }
    return OPTIONS_RUN;
}
