/* SPDX-License-Identifier: MIT
 * report_demand: see client/report_demand.h. */
#include "client/report_demand.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

enum { CLASS_TEXT_BYTES = 32 };

static uint64_t sum_unconnected(const struct tally *t)
{
    uint64_t sum = 0;

    for (int class = 0; class < TALLY_N_CLASSES; class ++)
        sum += tally_get(&t->queries[class].unconnected);
    return sum;
}

static uint64_t sum_ended(const struct tally_demand *d)
{
    uint64_t sum = 0;

    for (int class = 0; class < TALLY_CARRIED_CLASSES; class ++)
        sum += tally_get(&d->carried_by[class]);
    return sum;
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* The share of queries that needed no new connection; 0 while more connections were opened than
 * queries sent. */
static double reuse_ratio(uint64_t n_opened, uint64_t n_sent)
{
    return n_opened < n_sent ? 1 - ratio(n_opened, n_sent) : 0;
}

/* "3-4" */
static const char *class_text(char text[CLASS_TEXT_BYTES], unsigned class)
{
    const uint64_t first = tally_carried_first(class), last = tally_carried_last(class);

    if (first == last)
        snprintf(text, CLASS_TEXT_BYTES, "%" PRIu64, first);
    else
        snprintf(text, CLASS_TEXT_BYTES, "%" PRIu64 "-%" PRIu64, first, last);
    return text;
}

/* --- text --- */

/* "0.9512", or "-" if the divisor is 0. */
static const char *ratio_text(char text[UNITS_TEXT_BYTES], double value, bool is_known)
{
    if (!is_known)
        return "-";
    snprintf(text, UNITS_TEXT_BYTES, "%.4g", value);
    return text;
}

static const char *share_text(char text[UNITS_TEXT_BYTES], double all, double share, bool is_known)
{
    return ratio_text(text, all * units_round_share(share, 4), is_known);
}

static void print_classes(FILE *out, const struct tally_demand *d)
{
    char class_of[CLASS_TEXT_BYTES], count[UNITS_TEXT_BYTES];
    const char *before = "             connections by queries: ";

    for (unsigned class = 0; class < TALLY_CARRIED_CLASSES; class ++)
        if (tally_get(&d->carried_by[class]) > 0) {
            fprintf(out, "%s%s with %s", before,
                    units_format_count(count, tally_get(&d->carried_by[class])),
                    class_text(class_of, class));
            before = ", ";
        }
    if (*before == ',')
        fputc('\n', out);
}

/* The units are 100 ms. */
static double seconds(uint16_t timeout)
{
    return timeout / 10.0;
}

static void print_keepalive(FILE *out, const struct client_result *r)
{
    const struct tally_demand *d = &r->tally.demand;
    const struct timeout_summary s = timeout_counts_summary(&r->timeouts);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    fprintf(out, "Keepalive    %s %s with a timeout, %s without, %s malformed\n",
            units_format_count(a, tally_get(&d->keepalives)),
            units_noun(tally_get(&d->keepalives), "answer", "answers"),
            units_format_count(b, tally_get(&d->no_keepalive)),
            units_format_count(c, tally_get(&d->bad_keepalive)));
    if (s.n > 0)
        fprintf(out, "             timeouts of %.1f s to %.1f s, most often %.1f s (%s %s)\n",
                seconds(s.min), seconds(s.max), seconds(s.most_common),
                units_format_count(a, s.n_most_common),
                units_noun(s.n_most_common, "answer", "answers"));
}

void report_demand_text(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const struct tally_demand *d = &r->tally.demand;
    const uint64_t n_sent = tally_sent(&r->tally), n_ended = sum_ended(d);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    char percent[UNITS_TEXT_BYTES];

    if (!about->config->on_demand)
        return;
    fprintf(out, "On demand    %s of %s %s tried to connect, %s queries per connection\n",
            units_format_count(a, r->connections_requested),
            units_format_count(b, about->config->n_connections),
            units_noun(about->config->n_connections, "client", "clients"),
            ratio_text(c, ratio(tally_get(&d->carried), n_ended), n_ended > 0));
    fprintf(out,
            "             connection reuse ratio %s; %s %s (%s %%) waited for a connection,"
            " %s failed with it\n",
            share_text(a, 1, reuse_ratio(tally_get(&d->opened), n_sent), n_sent > 0),
            units_format_count(b, tally_get(&d->waited)),
            units_noun(tally_get(&d->waited), "query", "queries"),
            share_text(percent, 100, ratio(tally_get(&d->waited), n_sent), n_sent > 0),
            units_format_count(c, sum_unconnected(&r->tally)));
    print_classes(out, d);
    if (about->config->keepalive)
        print_keepalive(out, r);
}

/* --- JSON --- */

static void put_classes(struct json *j, const struct tally_demand *d)
{
    char text[CLASS_TEXT_BYTES];

    json_object_begin(j, "queries_per_connection");
    for (unsigned class = 0; class < TALLY_CARRIED_CLASSES; class ++)
        if (tally_get(&d->carried_by[class]) > 0)
            json_u64(j, class_text(text, class), tally_get(&d->carried_by[class]));
    json_object_end(j);
}

static void put_keepalive(struct json *j, const struct report_about *about,
                          const struct client_result *r)
{
    const struct tally_demand *d = &r->tally.demand;
    const struct timeout_summary s = timeout_counts_summary(&r->timeouts);

    if (!json_object_begin_if(j, "keepalive", about->config->keepalive))
        return;
    json_u64(j, "timeouts", tally_get(&d->keepalives));
    json_u64(j, "none", tally_get(&d->no_keepalive));
    json_u64(j, "malformed", tally_get(&d->bad_keepalive));
    json_double(j, "min_s", s.n > 0 ? seconds(s.min) : NAN);
    json_double(j, "max_s", s.n > 0 ? seconds(s.max) : NAN);
    json_double(j, "most_common_s", s.n > 0 ? seconds(s.most_common) : NAN);
    json_known_u64(j, "most_common", s.n > 0 ? s.n_most_common : UINT64_MAX);
    json_object_end(j);
}

void report_demand_json(struct json *j, const struct report_about *about,
                        const struct client_result *r)
{
    const struct tally_demand *d = &r->tally.demand;
    const uint64_t n_sent = tally_sent(&r->tally), n_ended = sum_ended(d);

    if (!json_object_begin_if(j, "on_demand", about->config->on_demand))
        return;
    json_u64(j, "clients", about->config->n_connections);
    json_u64(j, "clients_connected", r->connections_requested);
    json_u64(j, "requested", tally_get(&d->requested));
    json_u64(j, "withdrawn", tally_get(&d->withdrawn));
    json_u64(j, "opened", tally_get(&d->opened));
    json_u64(j, "reused", tally_get(&d->reused));
    json_u64(j, "waited", tally_get(&d->waited));
    json_u64(j, "unconnected", sum_unconnected(&r->tally));
    json_double(j, "reuse_ratio", n_sent > 0 ? reuse_ratio(tally_get(&d->opened), n_sent) : NAN);
    json_double(j, "waited_ratio", n_sent > 0 ? ratio(tally_get(&d->waited), n_sent) : NAN);
    json_double(j, "mean_queries_per_connection",
                n_ended > 0 ? ratio(tally_get(&d->carried), n_ended) : NAN);
    put_classes(j, d);
    put_keepalive(j, about, r);
    json_object_end(j);
}
