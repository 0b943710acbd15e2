/* SPDX-License-Identifier: MIT
 * report_text_head: see client/report_text_head.h. */
#include "client/report_text_head.h"

#include "base/units.h"
#include "client/report_text_arrivals.h"
#include "config/options_value.h"

#include <inttypes.h>
#include <math.h>

/* Classes may have intervals of their own. */
static void print_closed_loop(FILE *out, const struct client_config *config)
{
    char text[UNITS_TEXT_BYTES];

    fputs(", closed loop", out);
    if (config->n_classes == 0)
        fprintf(out, ", %s after each answer", units_format_duration(text, config->interval_ns));
}

static bool is_mean(const struct report_about *about, const struct client_result *r)
{
    return r->sweep != NULL || r->steered || !schedule_is_constant(&about->config->schedule);
}

const char *report_text_head_rate(char *text, const struct report_about *about,
                                  const struct client_result *r)
{
    const double qps = about->rate_qps, rounded = round(qps * 10) / 10;

    return units_format_decimal(text, is_mean(about, r) && qps >= 1 ? rounded : qps);
}

static void print_load(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const struct client_config *config = about->config;
    char text[UNITS_TEXT_BYTES];

    if (config->loop == CLIENT_LOOP_CLOSED)
        print_closed_loop(out, config);
    else if (about->has_queries || r->sweep != NULL)
        fprintf(out, ", %s q/s%s", report_text_head_rate(text, about, r),
                !is_mean(about, r) ? ""
                : r->sweep != NULL ? " on average over the search"
                : r->steered       ? " on average, as controlled"
                                   : " on average, on a schedule");
    else if (!config->listens)
        fputs(", no queries", out);
    if (config->n_classes > 0)
        fprintf(out, " (%" PRIu32 " %s)", config->n_classes,
                units_noun(config->n_classes, "class", "classes"));
    else if (config->loop == CLIENT_LOOP_OPEN && about->has_queries)
        fprintf(out, " (%s, %s)", report_text_arrivals_name((enum pacer_arrival)config->arrival),
                options_choice(CLIENT_SELECTS, config->select, text, sizeof text));
    if (config->duration_ns != PACER_NEVER)
        fprintf(out, ", %s", units_format_duration(text, config->duration_ns));
}

void report_text_head(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const struct query *query = &about->config->query;
    const uint64_t n =
        about->config->on_demand ? about->config->n_connections : r->connections_requested;
    char text[UNITS_TEXT_BYTES];

    fprintf(out, "tcpclient %s: %s", about->version,
            about->config->listens ? "listen" : query->protocol->name);
    if (query->n_queries > 1)
        fprintf(out, ", %s questions,", units_format_count(text, query->n_queries));
    fprintf(out, "%s to %s, %s %s%s",
            client_config_is_all_tls(about->config) ? " over TLS"
            : about->config->tls != NULL            ? ", in part over TLS,"
            : about->config->socket.datagrams       ? " over UDP"
                                                    : "",
            about->target, units_format_count(text, n), units_noun(n, "connection", "connections"),
            about->config->population.n > 0 ? " at most, on a schedule" : "");
    print_load(out, about, r);
    fprintf(
        out,
        "\n  %" PRIu32 " thread%s, pacing %s, seed %" PRIu64 ", quickack %s, libevent %s (%s)\n\n",
        r->n_workers,
        r->n_workers == 1  ? ""
        : r->own_fd_tables ? "s with own fd tables"
                           : "s sharing one fd table",
        options_choice(CLIENT_PACES, about->config->pace, text, sizeof text), about->config->seed,
        about->config->quickack ? "on" : "off", about->libevent, about->backend);
}
