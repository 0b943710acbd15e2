/* SPDX-License-Identifier: MIT
 * report_servers: see client/report_servers.h. */
#include "client/report_servers.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

enum { SHARE_TEXT_BYTES = 16 };

static bool is_any_known(const struct client_servers *s)
{
    for (unsigned i = 0; s != NULL && i < s->n; i++)
        if (client_servers_stats(s, i).is_known)
            return true;
    return false;
}

/* Counts of a server that did not answer are unknown. */
static struct server_stats stats_or_unknown(struct server_stats s)
{
    if (s.is_known)
        return s;
    return (struct server_stats){.accepted = UINT64_MAX,
                                 .refused = UINT64_MAX,
                                 .closed = UINT64_MAX,
                                 .active = UINT64_MAX,
                                 .bytes_received = UINT64_MAX,
                                 .bytes_sent = UINT64_MAX,
                                 .accept_pauses = UINT64_MAX,
                                 .back_pressure_pauses = UINT64_MAX,
                                 .listen_overflows = UINT64_MAX,
                                 .listen_drops = UINT64_MAX};
}

/* NAN: unknown. */
static double ratio(uint64_t part, uint64_t whole)
{
    if (part == UINT64_MAX || whole == UINT64_MAX || whole == 0)
        return NAN;
    return (double)part / (double)whole;
}

/* A share of the sum over all servers; unknown if any was restarted, because it has lost its
 * earlier counts. */
static double share(uint64_t part, uint64_t of_all, const struct server_stats *all)
{
    return ratio(part, all->restarted ? UINT64_MAX : of_all);
}

/* Connections established here for each one that the servers accepted. */
static double connections_ratio(const struct client_result *r, const struct server_stats *all)
{
    return share(tally_get(&r->tally.connections.connected), all->accepted, all);
}

/* --- text --- */

/* "50.1 %" */
static const char *share_text(char text[SHARE_TEXT_BYTES], double value)
{
    if (isnan(value))
        return "-";
    snprintf(text, SHARE_TEXT_BYTES, "%.1f %%", 100 * value);
    return text;
}

static int address_width(const struct client_servers *servers)
{
    size_t most = 24;

    for (unsigned i = 0; i < servers->n; i++)
        if (strlen(servers->addresses[i]) > most)
            most = strlen(servers->addresses[i]);
    return (int)most;
}

static void print_backend(FILE *out, int width, const char *address, const struct server_stats *s,
                          const struct server_stats *all)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    char accepted[SHARE_TEXT_BYTES], received[SHARE_TEXT_BYTES];

    fprintf(out, "%-*s %11s %8s %11s %11s %8s%s\n", width, address,
            units_format_known(a, s->accepted),
            share_text(accepted, share(s->accepted, all->accepted, all)),
            units_format_known(b, s->active),
            s->bytes_received != UINT64_MAX ? units_format_bytes(c, s->bytes_received) : "-",
            share_text(received, share(s->bytes_received, all->bytes_received, all)),
            s->restarted ? "  since its restart" : "");
}

static void print_backends(FILE *out, const struct client_result *r, const struct server_stats *all)
{
    const double per_accepted = connections_ratio(r, all);
    const int width = address_width(r->servers);

    if (!isnan(per_accepted))
        fprintf(out, "             %.2f connections here for each one accepted\n", per_accepted);
    fprintf(out, "\n%-*s %11s %8s %11s %11s %8s\n", width, "Backend", "accepted", "share", "active",
            "received", "share");
    for (unsigned i = 0; i < r->servers->n; i++) {
        const struct server_stats s = stats_or_unknown(client_servers_stats(r->servers, i));

        print_backend(out, width, r->servers->addresses[i], &s, all);
    }
}

void report_servers_text(FILE *out, const struct client_result *r)
{
    struct server_stats s;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];

    if (!is_any_known(r->servers))
        return;
    s = stats_or_unknown(client_servers_sum(r->servers));
    fprintf(
        out,
        "Server       %s accepted, %s refused, %s active; %s connected here, but not accepted\n",
        units_format_known(a, s.accepted), units_format_known(b, s.refused),
        units_format_known(c, s.active), units_format_known(d, client_result_not_accepted(r, &s)));
    fprintf(out, "             accepting paused %s %s, reading %s %s",
            units_format_known(a, s.accept_pauses), units_noun(s.accept_pauses, "time", "times"),
            units_format_known(b, s.back_pressure_pauses),
            units_noun(s.back_pressure_pauses, "time", "times"));
    if (s.listen_overflows != UINT64_MAX && s.listen_drops != UINT64_MAX)
        fprintf(out, "; %s listen %s, %s %s", units_format_known(c, s.listen_overflows),
                units_noun(s.listen_overflows, "overflow", "overflows"),
                units_format_known(d, s.listen_drops), units_noun(s.listen_drops, "drop", "drops"));
    fputc('\n', out);
    if (s.restarted)
        fputs("             restarted during the run: counts since then\n", out);
    if (r->servers->n > 1)
        print_backends(out, r, &s);
}

/* --- JSON --- */

static void put_counts(struct json *j, const struct server_stats *s)
{
    json_known_u64(j, "accepted", s->accepted);
    json_known_u64(j, "refused", s->refused);
    json_known_u64(j, "closed", s->closed);
    json_known_u64(j, "active", s->active);
    json_known_u64(j, "bytes_received", s->bytes_received);
    json_known_u64(j, "bytes_sent", s->bytes_sent);
    json_known_u64(j, "accept_pauses", s->accept_pauses);
    json_known_u64(j, "back_pressure_pauses", s->back_pressure_pauses);
    json_known_u64(j, "listen_overflows", s->listen_overflows);
    json_known_u64(j, "listen_drops", s->listen_drops);
    json_bool(j, "restarted", s->restarted);
}

static void put_backends(struct json *j, const struct client_servers *servers,
                         const struct server_stats *all)
{
    json_array_begin(j, "backends");
    for (unsigned i = 0; i < servers->n; i++) {
        const struct server_stats s = stats_or_unknown(client_servers_stats(servers, i));

        json_object_begin(j, NULL);
        json_string(j, "address", servers->addresses[i]);
        put_counts(j, &s);
        json_double(j, "accepted_share", share(s.accepted, all->accepted, all));
        json_double(j, "bytes_received_share", share(s.bytes_received, all->bytes_received, all));
        json_object_end(j);
    }
    json_array_end(j);
}

void report_servers_json(struct json *j, const struct client_result *r)
{
    struct server_stats s;

    if (!json_object_begin_if(j, "server", is_any_known(r->servers)))
        return;
    s = stats_or_unknown(client_servers_sum(r->servers));
    put_counts(j, &s);
    json_known_u64(j, "not_accepted", client_result_not_accepted(r, &s));
    json_double(j, "connections_ratio", connections_ratio(r, &s));
    put_backends(j, r->servers, &s);
    json_object_end(j);
}
