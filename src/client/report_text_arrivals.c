/* SPDX-License-Identifier: MIT
 * report_text_arrivals: see client/report_text_arrivals.h. */
#include "client/report_text_arrivals.h"

#include "base/units.h"
#include "measure/latency_report.h"

const char *report_text_arrivals_name(enum pacer_arrival arrival)
{
    static const char *const names[] = {"Poisson", "constant"};

    _Static_assert(sizeof names / sizeof *names == PACER_N_ARRIVALS, "each has a name");
    return names[arrival];
}

static void print_counts(FILE *out, const struct client_config *config,
                         const struct client_result *r)
{
    const uint64_t n = r->metrics[CLIENT_OPEN_LAG].count;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    fprintf(out, "\nArrivals     %s %s at %s/s (%s), %s held back by --connect-window\n",
            units_format_count(a, n), units_noun(n, "connection", "connections"),
            units_format_rate(b, config->connect_rate_per_s),
            report_text_arrivals_name(client_config_pacing_of(config->connect_arrival)),
            units_format_count(c, tally_get(&r->tally.connections.held)));
}

/* Connections without an answer count as slower than all others, but only if they ask for one. */
static bool answered_covers_all(const struct client_result *r)
{
    const struct hist *answered = &r->metrics[CLIENT_DUE_ANSWERED];

    return answered->count + answered->beyond >= r->metrics[CLIENT_OPEN_LAG].count;
}

void report_text_arrivals(FILE *out, const struct report_about *about,
                          const struct client_result *r)
{
    static const struct {
        const char *name;
        enum client_metric metric;
    } rows[] = {{"open lag", CLIENT_OPEN_LAG},
                {"connected", CLIENT_DUE_CONNECTED},
                {"secured", CLIENT_DUE_SECURED},
                {"answered", CLIENT_DUE_ANSWERED},
                {"from open", CLIENT_OPEN_ANSWERED}};
    const struct client_config *config = about->config;
    struct latency l;

    if (config->connect_arrival == CLIENT_CONNECT_WINDOW)
        return;
    print_counts(out, config, r);
    if (r->metrics[CLIENT_OPEN_LAG].count == 0)
        return;
    fputc('\n', out);
    latency_report_head(out, "Since due", LATENCY_REPORT_NAME);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        client_result_latency(r, rows[i].metric, &l);
        latency_report_text(out, rows[i].name, LATENCY_REPORT_NAME, &l, LATENCY_NEVER);
    }
    fprintf(out,
            "  open lag: until the socket() call;%s\n"
            "  answered: until the first answer; from open: from the socket() call to the first "
            "answer;\n  connections that did not get that far count as slower than all others\n",
            config->tls != NULL ? " secured: until the end of the TLS handshake;" : "");
    if (!answered_covers_all(r))
        fputs("  with --prove no, answered and from open are only of connections that had an "
              "answer\n",
              out);
}
