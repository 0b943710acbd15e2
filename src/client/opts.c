/* SPDX-License-Identifier: MIT
 * client_opts: see client/opts.h. */
#include "client/opts.h"

#include "base/units.h"
#include "client/start_time.h"
#include "client/worker/config.h"
#include "config/options_config.h"
#include "config/settings.h"
#include "measure/verdict.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define FIELD(name)     offsetof(struct client_opts, name)
#define LISTEN_DRAIN_NS UNITS_NS_PER_S
#define MAX_TIME_NS     (366ull * 24 * 3600 * UNITS_NS_PER_S)

/* kind, offset, argument, help, min, max, choices */
static const struct option_row rows[] = {
    {"Load", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"rate", 'r', OPTION_RATE, FIELD(rate_qps), "QPS",
     "total queries per second (default: none; connections stay idle)", 0, 0, NULL},
    {"interval", 'i', OPTION_DURATION, FIELD(interval_ns), "TIME",
     "instead of --rate: each connection sends one query every TIME", 1000, MAX_TIME_NS, NULL},
    {"schedule", 0, OPTION_TEXT, FIELD(schedule), "STEPS",
     "rate over time, instead of -r and -t: 10s:0-5000,60s:5000, or @FILE", 0, 0, NULL},
    {"stdin", 0, OPTION_FLAG, FIELD(steps_from_stdin), NULL,
     "the same from stdin: a line count, then lines '<milliseconds> <rate>'", 0, 0, NULL},
    {"stdin-rateslope", 0, OPTION_FLAG, FIELD(slopes_from_stdin), NULL,
     "the same from -r on, with lines '<milliseconds> <slope per second>'", 0, 0, NULL},
    {"arrival", 0, OPTION_CHOICE, FIELD(arrival), "KIND",
     "poisson or constant (default: poisson; with -i constant)", 0, 0, "poisson|constant"},
    {"select", 0, OPTION_CHOICE, FIELD(select), "KIND",
     "random or round-robin (default: random; with -i round-robin)", 0, 0, CLIENT_SELECTS},
    {"loop", 0, OPTION_CHOICE, FIELD(loop), "KIND",
     "open: on schedule; closed: -i starts at each answer (default: open)", 0, 0, CLIENT_LOOPS},
    {"pace", 0, OPTION_CHOICE, FIELD(pace), "KIND",
     "sleep, hybrid or spin until a query is due (default: auto)", 0, 0, CLIENT_PACES},
    {"protocol", 0, OPTION_CHOICE, FIELD(protocol), "NAME",
     "dns, ping, echo, or listen to tcpserver --push (default: dns)", 0, 0,
     QUERY_PROTOCOLS "|listen"},
    {"qname", 0, OPTION_TEXT, FIELD(qname), "NAME", "dns: name to query (default: example.com)", 0,
     0, NULL},
    {"qtype", 0, OPTION_TEXT, FIELD(qtype), "TYPE",
     "dns: type to query: AAAA, MX, HTTPS, TYPE65, ... (default: A)", 0, 0, NULL},
    {"query-file", 0, OPTION_TEXT, FIELD(query_file), "FILE",
     "dns: cycle through the '<name> <type>' lines of FILE (-: stdin)", 0, 0, NULL},
    {"edns", 0, OPTION_BYTES, FIELD(edns_bytes), "BYTES",
     "dns: send EDNS with this UDP payload size (default: no EDNS)", 512, UINT16_MAX, NULL},
    {"dnssec", 0, OPTION_FLAG, FIELD(dnssec), NULL, "dns: send EDNS with the DO bit set", 0, 0,
     NULL},
    {"padding", 0, OPTION_BYTES, FIELD(padding_bytes), "BYTES",
     "dns: send EDNS and pad each query to a multiple of BYTES", 1, DNS_MESSAGE_PADDING_BYTES,
     NULL},
    {"size", 0, OPTION_BYTES, FIELD(size_bytes), "BYTES", "echo: bytes per message (default: 64)",
     1, QUERY_MAX_BYTES, NULL},
    {"seed", 's', OPTION_COUNT, FIELD(seed), "N", "random seed (default: 42)", 0, 0, NULL},
    {"Connections", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"target", 0, OPTION_TEXT, FIELD(target), "HOST[:PORT]",
     "same as the HOST[:PORT] argument, for --config", 0, 0, NULL},
    {"port", 'p', OPTION_PORT, FIELD(port), "PORT", "the server's port (default: 4242)", 0, 0,
     NULL},
    {"connections", 'c', OPTION_COUNT, FIELD(connections), "N", "connections to open (default: 1)",
     1, CLIENT_OPTS_MOST_CONNECTIONS, NULL},
    {"max-connections", 0, OPTION_AUTO, FIELD(max_connections), "N",
     "limit for /connections/start; auto: twice -c if that fits", 1, CLIENT_OPTS_MOST_CONNECTIONS,
     NULL},
    {"conn-schedule", 0, OPTION_TEXT, FIELD(conn_schedule), "STEPS",
     "connections over time, instead of -c: 10s:0-500,60s:500, or @FILE", 0, 0, NULL},
    {"connect-rate", 'n', OPTION_RATE, FIELD(connect_rate), "PER_S",
     "new connections per second; 0: limited by the window only (default: 0)", 0, 0, NULL},
    {"connect-window", 0, OPTION_COUNT, FIELD(connect_window), "N",
     "connections being opened or proven at a time (default: 256)", 1, 1000000, NULL},
    {"connect-timeout", 0, OPTION_DURATION, FIELD(connect_timeout_ns), "TIME",
     "give up on a connect after TIME (default: 10s)", UNITS_NS_PER_MS, MAX_TIME_NS, NULL},
    {"source", 0, OPTION_TEXT, FIELD(source), "LIST",
     "source addresses: 10.0.0.5,10.0.1.1-9,10.1.0.0/24,10.2.{1..3}.1", 0, 0, NULL},
    {"sport", 0, OPTION_TEXT, FIELD(sport), "RANGES",
     "source ports: 20000-60000,!30000 (default with --source: 1024-65535)", 0, 0, NULL},
    {"prove", 0, OPTION_CHOICE, FIELD(prove), "yes|no",
     "query each new connection once and await the answer (default: yes)", 0, 0, "yes|no"},
    {"queries-per-conn", 0, OPTION_COUNT, FIELD(queries_per_conn), "N",
     "reconnect after N queries; 0: never (default: 0)", 0, UINT32_MAX, NULL},
    {"close", 0, OPTION_CHOICE, FIELD(close), "HOW",
     "close with fin, or with rst, which leaves no TIME_WAIT (default: fin)", 0, 0, CLIENT_CLOSES},
    {"reconnect", 0, OPTION_FLAG, FIELD(reconnect), NULL, "replace connections that fail", 0, 0,
     NULL},
    {"backoff", 0, OPTION_TEXT, FIELD(backoff), "FIRST-MOST",
     "delay before reconnecting, doubled per attempt (default: 100ms-10s)", 0, 0, NULL},
    {"quickack", 0, OPTION_FLAG, FIELD(quickack), NULL,
     "send ACKs immediately, for servers without TCP_NODELAY", 0, 0, NULL},
    {"kernel-ts", 0, OPTION_CHOICE, FIELD(kernel_ts), NULL,
     "also timestamp answers in the kernel (default: below 100k q/s)", 0, 0, CLIENT_KERNEL_TSS},
    {"sndbuf", 0, OPTION_BYTES, FIELD(sndbuf_bytes), "BYTES",
     "send buffer per socket (default: the kernel's)", 1, 1u << 30, NULL},
    {"rcvbuf", 0, OPTION_BYTES, FIELD(rcvbuf_bytes), "BYTES",
     "receive buffer per socket (default: the kernel's)", 1, 1u << 30, NULL},
    {"threads", 0, OPTION_AUTO, FIELD(threads), "N",
     "threads; auto: as the load needs, up to one per CPU (default: auto)", 1, 4096, NULL},
    {"cpu", 0, OPTION_TEXT, FIELD(cpu), "LIST",
     "pin the threads to these CPUs, e.g. 0-3,6 (default: any)", 0, 0, NULL},
    {"busy-poll", 0, OPTION_FLAG, FIELD(busy_poll), NULL,
     "never sleep: --pace spin, and SO_BUSY_POLL on every socket", 0, 0, NULL},
    {"TLS", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"tls", 0, OPTION_FLAG, FIELD(tls), NULL,
     "use TLS on every connection; with --protocol dns: DNS-over-TLS", 0, 0, NULL},
    {"tls-name", 0, OPTION_TEXT, FIELD(tls_name), "NAME",
     "server name to send (SNI) and to verify (default: HOST)", 0, 0, NULL},
    {"tls-ca", 0, OPTION_TEXT, FIELD(tls_ca), "FILE",
     "trust the CA certificates in FILE (PEM) instead of the system's", 0, 0, NULL},
    {"tls-insecure", 0, OPTION_FLAG, FIELD(tls_insecure), NULL,
     "do not verify the server's certificate", 0, 0, NULL},
    {"tls-min", 0, OPTION_CHOICE, FIELD(tls_min), "VERSION",
     "minimum TLS version: 1.2 or 1.3 (default: 1.2)", 0, 0, TLS_MINS},
    {"tls-ciphers", 0, OPTION_TEXT, FIELD(tls_ciphers), "LIST",
     "offer only these ciphers, separated by ':', and their TLS versions", 0, 0, NULL},
    {"tls-resume", 0, OPTION_CHOICE, FIELD(tls_resume), "yes|no",
     "resume sessions with the thread's latest ticket (default: yes)", 0, 0, "yes|no"},
    {"Time", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"duration", 't', OPTION_DURATION, FIELD(duration_ns), "TIME",
     "measure for TIME from the first query (default: until interrupted)", 0, MAX_TIME_NS, NULL},
    {"settle", 0, OPTION_DURATION, FIELD(settle_ns), "TIME",
     "wait between the last connect and the first query (default: 200ms)", 0, MAX_TIME_NS, NULL},
    {"start-at", 0, OPTION_TEXT, FIELD(start_at), "EPOCH",
     "connect, then send the first query at EPOCH, e.g. 1800000000.5", 0, 0, NULL},
    {"start-file", 0, OPTION_TEXT, FIELD(start_file), "FILE",
     "connect, create FILE.ready, then start at the EPOCH written to FILE", 0, 0, NULL},
    {"late-max", 0, OPTION_DURATION, FIELD(late_max_ns), "TIME",
     "do not start later than TIME after that EPOCH (default: 50ms)", 0, MAX_TIME_NS, NULL},
    {"warmup", 0, OPTION_DURATION, FIELD(warmup_ns), "TIME",
     "send for TIME before measuring (default: 0)", 0, MAX_TIME_NS, NULL},
    {"drain", 0, OPTION_DURATION, FIELD(drain_ns), "TIME",
     "await answers for TIME after the end (default: --timeout; listen: 1s)", 0, MAX_TIME_NS, NULL},
    {"timeout", 0, OPTION_DURATION, FIELD(timeout_ns), "TIME",
     "give up on a query after TIME (default: 5s)", UNITS_NS_PER_MS, MAX_TIME_NS, NULL},
    {"on-timeout", 0, OPTION_CHOICE, FIELD(on_timeout), "DO",
     "keep or close the connection of a timed-out query (default: keep)", 0, 0, CLIENT_ON_TIMEOUTS},
    {"Output", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"raw", 'R', OPTION_FLAG, FIELD(raw), NULL, "write one CSV row per query and answer to stdout",
     0, 0, NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), "FILE", "write these rows to FILE instead", 0, 0,
     NULL},
    {"raw-full", 0, OPTION_CHOICE, FIELD(raw_full), "DO",
     "when the row buffer is full: drop rows or block (default: drop)", 0, 0, ROWS_WHEN_FULL},
    {"sample", 0, OPTION_SHARE, FIELD(sample_one_in), "1/K",
     "write the rows of one query in K (default: 1/1)", 0, 0, NULL},
    {"json", 0, OPTION_TEXT, FIELD(json), "FILE", "write the result as JSON to FILE (-: stdout)", 0,
     0, NULL},
    {"hlog", 0, OPTION_TEXT, FIELD(hlog), "FILE",
     "write per-second histograms to FILE, as an HdrHistogram log", 0, 0, NULL},
    {"hgrm", 0, OPTION_TEXT, FIELD(hgrm), "FILE",
     "write the response-time percentile distribution to FILE", 0, 0, NULL},
    {"stats-interval", 0, OPTION_DURATION, FIELD(stats_interval_ns), "TIME",
     "print a progress line on stderr every TIME; 0: never (default: 5s)", 0, MAX_TIME_NS, NULL},
    {"connections-out", 0, OPTION_TEXT, FIELD(connections_out), "FILE",
     "write one CSV row per connection to FILE at the end", 0, 0, NULL},
    {"control", 0, OPTION_TEXT, FIELD(control), "ADDR",
     "serve the HTTP control API at ADDR:PORT or unix:PATH", 0, 0, NULL},
    {"control-token", 0, OPTION_TEXT, FIELD(control_token), "FILE",
     "require the token in FILE for it; without a token, loopback only", 0, 0, NULL},
    {"server-control", 0, OPTION_TEXT, FIELD(server_control), "ADDR",
     "include tcpserver's counters, read from its --control ADDR", 0, 0, NULL},
    {"plan", 0, OPTION_FLAG, FIELD(plan), NULL,
     "print which limits apply and how to raise them, then exit", 0, 0, NULL},
    {"force", 0, OPTION_FLAG, FIELD(force), NULL, "run even if the plan says stop", 0, 0, NULL},
    {"require", 0, OPTION_CHOICE, FIELD(require), "PERCENTILE",
     "exit 3 if this host's delays reach it: p50 ... max (default: p99)", 0, 0,
     VERDICT_PERCENTILES},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL,
     "no summary, progress or warnings; errors still go to stderr", 0, 0, NULL},
    {"verbose", 'v', OPTION_COUNTER, FIELD(verbose), NULL, "print more about the plan", 0, 0, NULL},
    {"Configuration", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"config", 0, OPTION_CONFIG, FIELD(config), "FILE",
     "read 'option = value' lines; the command line overrides them", 0, 0, NULL},
    {"profile", 0, OPTION_PROFILE, FIELD(profile), "NAME",
     "settings of a published run; --config overrides them; list: names", 0, 0, NULL},
    {"print-config", 0, OPTION_COMMAND, FIELD(print_config), NULL,
     "print the settings in force in --config format, then exit", 0, 0, NULL},
    {"help", 'h', OPTION_HELP, 0, NULL, "print this and exit", 0, 0, NULL},
    {"version", 'V', OPTION_VERSION, 0, NULL, "print the version and exit", 0, 0, NULL},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

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
    .require = 3, /* p99 */
    .stats_interval_ns = 5 * UNITS_NS_PER_S,
};

struct options *client_opts_table(void)
{
    static unsigned char given[N_ROWS];
    static struct options table = {
        .program = "tcpclient",
        .usage = "[options] HOST[:PORT]",
        .summary =
            "Opens TCP connections, sends queries at a fixed rate and measures each response.",
        .version = TCPSCALER_VERSION,
        .rows = rows,
        .n_rows = N_ROWS,
        .given = given,
    };

    return &table;
}

static bool was_given(const char *name)
{
    return options_was_given(client_opts_table(), name);
}

#define REFUSE(...) (snprintf(error, OPTIONS_ERROR_BYTES, __VA_ARGS__), -1)

static int check_schedule(const struct client_opts *o, char *error)
{
    const char *name = o->schedule != NULL    ? "schedule"
                       : o->steps_from_stdin  ? "stdin"
                       : o->slopes_from_stdin ? "stdin-rateslope"
                                              : NULL;

    if (name == NULL)
        return 0;
    if ((o->schedule != NULL) + o->steps_from_stdin + o->slopes_from_stdin > 1)
        return REFUSE("--%s: conflicts with the other schedule: give only one", name);
    if (was_given("duration") || was_given("interval"))
        return REFUSE("--%s: conflicts with --duration and --interval: the schedule sets the times",
                      name);
    if (o->slopes_from_stdin && !was_given("rate"))
        return REFUSE("--stdin-rateslope: requires --rate, the initial rate");
    if (!o->slopes_from_stdin && was_given("rate"))
        return REFUSE("--%s: conflicts with --rate: the schedule sets the rates", name);
    return 0;
}

static int check_query(const struct client_opts *o, char *error)
{
    static const char *const of_dns[] = {"qname", "qtype",  "query-file",
                                         "edns",  "dnssec", "padding"};

    for (size_t i = 0; i < sizeof of_dns / sizeof *of_dns; i++)
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

/* Options that --protocol listen excludes. */
static int check_listen(struct client_opts *o, char *error)
{
    static const char *const of_queries[] = {
        "rate",    "interval", "schedule", "stdin",           "stdin-rateslope",
        "arrival", "select",   "loop",     "queries-per-conn"};

    for (size_t i = 0; i < sizeof of_queries / sizeof *of_queries; i++)
        if (was_given(of_queries[i]))
            return REFUSE(
                "--%s: --protocol listen sends no queries: tcpserver --push sets the rate",
                of_queries[i]);
    if (o->conn_schedule != NULL)
        return REFUSE(
            "--conn-schedule: conflicts with --protocol listen: listeners stay open to the end");
    if (!was_given("drain"))
        o->drain_ns = LISTEN_DRAIN_NS;
    return 0;
}

static int check_load(struct client_opts *o, char *error)
{
    if (o->protocol == CLIENT_PROTOCOL_LISTEN && check_listen(o, error) != 0)
        return -1;
    if (check_schedule(o, error) != 0)
        return -1;
    if (was_given("interval") && was_given("rate"))
        return REFUSE("--interval: conflicts with --rate: give only one");
    if (o->loop == CLIENT_LOOP_CLOSED && !was_given("interval"))
        return REFUSE("--loop: 'closed' requires --interval");
    if (was_given("rate") && o->rate_qps > 1e9)
        return REFUSE("--rate: invalid value '%g': expected at most 1e9 per second", o->rate_qps);
    if (check_query(o, error) != 0)
        return -1;
    if (o->busy_poll && was_given("pace") && o->pace != CLIENT_PACE_SPIN)
        return REFUSE("--busy-poll: conflicts with --pace: expected --pace spin or none");
    if (was_given("interval") && !was_given("arrival"))
        o->arrival = PACER_CONSTANT;
    if (was_given("interval") && !was_given("select"))
        o->select = CLIENT_SELECT_ROUND_ROBIN;
    return 0;
}

static int check_connections(struct client_opts *o, char *error)
{
    char reason[BACKOFF_ERROR_BYTES];

    if (o->connect_rate < 0 || o->connect_rate > 1e8)
        return REFUSE("--connect-rate: invalid value '%g': expected 0 to 1e8 per second",
                      o->connect_rate);
    if (o->threads > o->connections && o->conn_schedule == NULL)
        return REFUSE("--threads: invalid value '%" PRIu64
                      "': expected at most one per connection (%" PRIu64 ")",
                      o->threads, o->connections);
    if (o->conn_schedule != NULL && (was_given("connections") || was_given("duration")))
        return REFUSE(
            "--conn-schedule: conflicts with --connections and --duration: the schedule sets both");
    if (o->queries_per_conn > 0)
        o->reconnect = true;
    if (was_given("backoff") && !o->reconnect)
        return REFUSE("--backoff: requires --reconnect or --queries-per-conn");
    if (backoff_parse(&o->waits, o->backoff, reason) != 0)
        return REFUSE("--backoff: %s", reason);
    if (!was_given("prove"))
        o->prove = o->queries_per_conn > 0; /* its first query proves it */
    return 0;
}

static int check_tls(const struct client_opts *o, char *error)
{
    static const char *const options[] = {"tls-name", "tls-ca",      "tls-insecure",
                                          "tls-min",  "tls-ciphers", "tls-resume"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!o->tls && was_given(options[i]))
            return REFUSE("--%s: requires --tls", options[i]);
    if (o->tls && o->protocol == CLIENT_PROTOCOL_LISTEN)
        return REFUSE("--tls: conflicts with --protocol listen: pushed messages are not encrypted");
    if (o->tls_insecure && o->tls_ca != NULL)
        return REFUSE("--tls-insecure: conflicts with --tls-ca: nothing would be verified");
    return 0;
}

static int check_control(const struct client_opts *o, char *error)
{
    if (o->control_token != NULL && o->control == NULL && o->server_control == NULL)
        return REFUSE("--control-token: requires --control or --server-control");
    if (o->max_connections == 0)
        return 0;
    if (o->control == NULL)
        return REFUSE("--max-connections: requires --control");
    if (o->conn_schedule != NULL)
        return REFUSE(
            "--max-connections: conflicts with --conn-schedule: the schedule sets the maximum");
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
        return REFUSE("--start-at: invalid value '%s': expected " START_TIME_ACCEPTED, o->start_at);
    return 0;
}

static int check_rest(struct client_opts *o, char *error)
{
    const char *json_stdout =
        o->json != NULL && o->json[0] == '-' && o->json[1] == '\0' ? o->json : NULL;

    if (!o->raw && o->output == NULL && (was_given("raw-full") || was_given("sample")))
        return REFUSE("--%s: requires --raw or --output",
                      was_given("sample") ? "sample" : "raw-full");
    if (o->warmup_ns > 0 && o->protocol != CLIENT_PROTOCOL_LISTEN && client_opts_rate_qps(o) <= 0 &&
        !client_opts_has_schedule(o))
        return REFUSE("--warmup: requires --rate, --interval or a schedule");
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

/* The place with higher precedence determines the port. */
static int check_port(struct client_opts *o, char *error)
{
    struct options *table = client_opts_table();
    const enum options_place target = options_given_at(table, "target"),
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
        return REFUSE("unexpected argument '%s': expected one HOST[:PORT]", operands[1]);
    if (n_operands == 1) {
        o->target = operands[0];
        options_mark_given(client_opts_table(), "target");
    }
    if (o->target == NULL)
        return o->print_config ? 0 : REFUSE("missing HOST: usage: tcpclient [options] HOST[:PORT]");
    if (endpoint_parse(o->target, &o->server) != 0)
        return REFUSE("HOST: invalid value '%s': expected NAME, NAME:PORT, ADDRESS or [IPV6]:PORT "
                      "with a port from 1 to 65535",
                      o->target);
    return check_port(o, error);
}

/* Resolves options that exclude each other: the place with higher precedence wins. */
static void settle(struct client_opts *o)
{
    static const char *const pairs[][2] = {
        {"rate", "interval"},
        {"rate", "schedule"},
        {"rate", "stdin"},
        {"interval", "schedule"},
        {"interval", "stdin"},
        {"interval", "stdin-rateslope"},
        {"duration", "schedule"},
        {"duration", "stdin"},
        {"duration", "stdin-rateslope"},
        {"duration", "conn-schedule"},
        {"connections", "conn-schedule"},
        {"schedule", "stdin"},
        {"schedule", "stdin-rateslope"},
        {"stdin", "stdin-rateslope"},
        {"query-file", "qname"},
        {"tls-insecure", "tls-ca"},
        {"start-at", "start-file"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        options_outrank(client_opts_table(), o, &defaults, pairs[i][0], pairs[i][1]);
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
    settle(opts);
    if (check_load(opts, error) != 0 || check_connections(opts, error) != 0 ||
        check_tls(opts, error) != 0 || check_control(opts, error) != 0 ||
        check_start(opts, error) != 0 || check_rest(opts, error) != 0 ||
        check_host(opts, argc - first, argv + first, error) != 0)
        return OPTIONS_USAGE;
    if (opts->print_config) {
        options_print_config(table, opts, out);
        return OPTIONS_EXIT;
    }
    return OPTIONS_RUN;
}

bool client_opts_has_schedule(const struct client_opts *opts)
{
    return opts->schedule != NULL || opts->steps_from_stdin || opts->slopes_from_stdin;
}

double client_opts_rate_qps(const struct client_opts *opts)
{
    return opts->interval_ns > 0 ? (double)opts->connections * 1e9 / (double)opts->interval_ns
                                 : opts->rate_qps;
}
