/* SPDX-License-Identifier: MIT
 * client_opts_class: see client/opts_class.h. */
#include "client/opts_class.h"

#include "base/text_stream.h"
#include "base/units.h"
#include "client/opts_check.h"
#include "client/worker/class.h"
#include "client/worker/config.h"
#include "config/options_config.h"
#include "config/options_conflict.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) offsetof(struct client_opts_class, name)

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-_"

/* A sum of shares that differs from 1 by no more than this is due to rounding: 3 times 33.3%. */
#define ROUNDING 0.002

_Static_assert(OPTIONS_SECTION_MOST <= CLIENT_CLASS_MOST, "each section is a class");

static struct client_opts_class classes[CLIENT_CLASS_MOST];

/* Options of the program that a class may set for itself. */
static const char *const own[] = {
    "interval", "rate",    "arrival", "select", "qname", "qtype", "query-file",       "edns",
    "dnssec",   "padding", "size",    "port",   "tls",   "prove", "queries-per-conn", "idle-close"};

enum { N_ROWS = N(own) + 2 };

/* --- parsing --- */

/* The rows of the class and copies of those of the program: their fields have the same offsets. */
static struct options *class_table(void)
{
    static struct option_row rows[N_ROWS] = {
        {"name", 0, OPTION_TEXT, FIELD(name), "NAME", "", 0, 0, NULL},
        {"share", 0, OPTION_TEXT, FIELD(share_text), "PERCENT", "", 0, 0, NULL},
    };
    static unsigned char given[N_ROWS];
    static struct options table = {
        .program = "tcpclient", .rows = rows, .n_rows = N_ROWS, .given = given};

    for (size_t i = 0; i < N(own); i++)
        rows[i + 2] = *options_row(client_opts_table(), own[i]);
    memset(given, OPTIONS_DEFAULT, sizeof given);
    return &table;
}

static void begin(struct client_opts_class *c, const struct client_opts *o,
                  const struct options_section *section)
{
    free(c->text);
    free(c->copy);
    *c = (struct client_opts_class){.opts = *o, .name = section->name};
    c->opts.class.n = 0;
    c->copy = strdup(section->text);
}

static char *normal_text(const struct options *table, const struct client_opts_class *c)
{
    struct text_stream t;
    size_t n_bytes;

    if (text_stream_open(&t) == 0)
        options_print_given(table, c, t.out);
    return text_stream_close(&t, &n_bytes);
}

/* --- checks of a class --- */

static int check_name(const struct client_opts_class *c, char *error)
{
    const size_t n = strlen(c->name);

    if (n >= CLIENT_CLASS_NAME_BYTES || strspn(c->name, NAME_CHARACTERS) != n)
        return REFUSE("--class: invalid name '%.80s': expected 1 to %d of a-z, 0-9, '-' and '_'",
                      c->name, CLIENT_CLASS_NAME_BYTES - 1);
    for (const struct client_opts_class *other = classes; other < c; other++)
        if (strcmp(other->name, c->name) == 0)
            return REFUSE("--class: two classes have the name '%s'", c->name);
    return 0;
}

static int check_share(struct client_opts_class *c, char *error)
{
    if (c->share_text == NULL)
        return REFUSE("--class: '%s' has no share, its percentage of the clients", c->name);
    if (units_parse_percent(c->share_text, &c->share) != 0 || c->share <= 0 || c->share > 1)
        return REFUSE(
            "--class: %s: share: invalid value '%.60s': expected a percentage such as 70%%",
            c->name, c->share_text);
    return 0;
}

/* A load of its own replaces that of the program. */
static int check_load(struct client_opts_class *c, const struct options *table, char *error)
{
    const bool has_interval = options_was_given(table, "interval");
    const bool has_rate = options_was_given(table, "rate");

    if (has_interval && has_rate)
        return REFUSE("--class: %s: interval conflicts with rate: give only one", c->name);
    if ((has_interval || has_rate) && client_opts_has_schedule(&c->opts))
        return REFUSE("--class: %s: %s conflicts with the schedule of the run, which the classes "
                      "share",
                      c->name, has_interval ? "interval" : "rate");
    if (has_rate && c->opts.loop == CLIENT_LOOP_CLOSED)
        return REFUSE("--class: %s: rate conflicts with --loop closed: give an interval", c->name);
    if (c->opts.loop == CLIENT_LOOP_CLOSED && !has_interval && !was_given("interval"))
        return REFUSE("--class: %s: --loop closed requires an interval", c->name);
    c->has_rate = has_rate;
    c->has_load = has_interval || has_rate;
    if (has_rate)
        c->opts.interval_ns = 0;
    if (has_interval)
        c->opts.rate_qps = 0;
    if ((has_interval || has_rate) && !was_given("arrival") && !options_was_given(table, "arrival"))
        c->opts.arrival = has_interval ? PACER_CONSTANT : PACER_POISSON;
    if ((has_interval || has_rate) && !was_given("select") && !options_was_given(table, "select"))
        c->opts.select = has_interval ? CLIENT_SELECT_ROUND_ROBIN : CLIENT_SELECT_RANDOM;
    return 0;
}

static int check_query(struct client_opts_class *c, const struct options *table, char *error)
{
    static const char *const of_dns[] = {"qname", "qtype",  "query-file",
                                         "edns",  "dnssec", "padding"};
    const bool has_file = options_was_given(table, "query-file");
    const bool has_name = options_was_given(table, "qname");

    for (size_t i = 0; i < N(of_dns); i++)
        if (c->opts.protocol != QUERY_DNS && options_was_given(table, of_dns[i]))
            return REFUSE("--class: %s: %s requires --protocol dns", c->name, of_dns[i]);
    if (c->opts.protocol != QUERY_ECHO && options_was_given(table, "size"))
        return REFUSE("--class: %s: size requires --protocol echo", c->name);
    if (has_file && has_name)
        return REFUSE("--class: %s: query-file conflicts with qname: the file sets the names",
                      c->name);
    if (c->opts.query_file != NULL && strcmp(c->opts.query_file, "-") == 0)
        return REFUSE("--class: %s: query-file: '-' is read once: give a file", c->name);
    if (has_file)
        c->opts.qname = NULL;
    if (has_name)
        c->opts.query_file = NULL;
    return 0;
}

static int check_connections(struct client_opts_class *c, const struct options *table, char *error)
{
    struct client_opts *o = &c->opts;

    o->server.port = options_was_given(table, "port") ? o->port : 0;
    if (options_was_given(table, "idle-close") && !o->on_demand)
        return REFUSE("--class: %s: idle-close requires --on-demand", c->name);
    if (o->queries_per_conn > 0 && o->on_demand)
        return REFUSE("--class: %s: queries-per-conn conflicts with --on-demand: idle connections "
                      "are closed",
                      c->name);
    if (options_was_given(table, "prove") && o->prove == CLIENT_YES && o->on_demand)
        return REFUSE("--class: %s: prove conflicts with --on-demand: the first query proves a "
                      "connection",
                      c->name);
    if (!was_given("prove") && !options_was_given(table, "prove"))
        o->prove = default_prove(o);
    return 0;
}

static int read_class(struct client_opts_class *c, const struct client_opts *o,
                      struct options_section *section, char *error)
{
    struct options *table = class_table();

    begin(c, o, section);
    if (c->copy == NULL)
        return REFUSE("out of memory");
    if (options_read_section(section, c->copy, table, c, error) != 0)
        return -1;
    if (c->name == NULL && section->file != NULL)
        return REFUSE("%.80s:%u: [class] has no name: expected [class NAME]", section->file,
                      section->line);
    if (c->name == NULL)
        return REFUSE("--class: '%.80s' has no name: expected name=NAME", section->text);
    if (section->name != NULL && options_was_given(table, "name"))
        return REFUSE("--class: [class %.80s] conflicts with name = %.80s: give only one",
                      section->name, c->name);
    if (check_name(c, error) != 0 || check_share(c, error) != 0 ||
        check_load(c, table, error) != 0 || check_query(c, table, error) != 0 ||
        check_connections(c, table, error) != 0)
        return -1;
    table->given[0] = OPTIONS_DEFAULT; /* the name is in the header */
    c->text = normal_text(table, c);
    return c->text != NULL ? 0 : REFUSE("out of memory");
}

/* --- checks of all --- */

int client_opts_check_class_conflicts(const struct client_opts *o, char *error)
{
    const struct options_conflict others[] = {
        {"--protocol listen", o->protocol == CLIENT_PROTOCOL_LISTEN, "listeners send no queries"},
        {"--find", o->find != CLIENT_FIND_NONE, "the search sets the load"},
        {"--conn-schedule", o->conn_schedule != NULL,
         "classes share a fixed number of connections"},
        {"--max-connections", o->max_connections != 0,
         "classes share a fixed number of connections"},
    };

    return o->class.n > 0 ? options_refuse_conflicts("--class:", others, N(others), error) : 0;
}

/* Rounds the ends of the classes, so that their numbers add up and each is off by less than 1. */
static int deal_connections(const struct client_opts *o, double sum, char *error)
{
    uint64_t n_before = 0;
    double end = 0;

    for (unsigned k = 0; k < o->n_classes; k++) {
        struct client_opts_class *c = &o->classes[k];
        uint64_t n_until;

        end += c->share / sum;
        n_until = k + 1 == o->n_classes ? o->connections
                                        : (uint64_t)llround(end * (double)o->connections);
        if (n_until <= n_before || n_until > o->connections)
            return REFUSE("--class: %s: share: %s of %" PRIu64
                          " connections rounds to none: expected at least one",
                          c->name, c->share_text, o->connections);
        c->n_connections = (uint32_t)(n_until - n_before);
        n_before = n_until;
    }
    return 0;
}

static int check_shares(const struct client_opts *o, char *error)
{
    double sum = 0;

    for (unsigned k = 0; k < o->n_classes; k++)
        sum += o->classes[k].share;
    if (fabs(sum - 1) > ROUNDING)
        return REFUSE("--class: the shares add up to %.6g%%: expected 100%%", 100 * sum);
    return deal_connections(o, sum, error);
}

/* The load of the run is for classes without a load of their own.  Classes may override a load from
 * a file or a profile. */
static int check_load_of_run(const struct client_opts *o, char *error)
{
    static const char *const loads[] = {"rate", "interval"};

    for (unsigned k = 0; k < o->n_classes; k++)
        if (!o->classes[k].has_load)
            return 0;
    for (size_t i = 0; i < N(loads); i++)
        if (options_given_at(client_opts_table(), loads[i]) == OPTIONS_COMMAND_LINE)
            return REFUSE("--%s: conflicts with --class: each class has its own load", loads[i]);
    return 0;
}

int client_opts_check_classes(struct client_opts *o, char *error)
{
    if (o->class.n == 0)
        return 0;
    for (unsigned k = 0; k < o->class.n; k++)
        if (read_class(&classes[k], o, &o->class.items[k], error) != 0)
            return -1;
    o->classes = classes;
    o->n_classes = o->class.n;
    for (unsigned k = 0; k < o->n_classes; k++)
        o->reconnect |= classes[k].opts.queries_per_conn > 0;
    if (check_shares(o, error) != 0 || check_load_of_run(o, error) != 0)
        return -1;
    for (unsigned k = 0; k < o->n_classes; k++) {
        o->class.items[k].name = classes[k].name;
        o->class.items[k].text = classes[k].text;
        o->class.items[k].file = "class"; /* one per line, as in a file */
    }
    return 0;
}
