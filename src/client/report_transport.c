/* SPDX-License-Identifier: MIT
 * report_transport: see client/report_transport.h. */
#include "client/report_transport.h"

#include "base/units.h"
#include "workload/identity.h"

#include <arpa/inet.h>

enum { IDENTITY_TEXT_BYTES = INET6_ADDRSTRLEN + 8 };

static const char *version_of(const struct client_config *config)
{
    return config->proxy == PROXY_HEADER_V1 ? "v1" : "v2";
}

/* "10.0.0.1:1024", "[fd00::1]:1024" */
static const char *identity_text(char text[IDENTITY_TEXT_BYTES], const struct client_config *config,
                                 uint64_t connection)
{
    const struct srcplan_tuple identity = identity_of(&config->identities, connection);
    const bool is_six = identity.address.family == AF_INET6;
    char address[INET6_ADDRSTRLEN] = "";

    inet_ntop(identity.address.family, identity.address.bytes, address, sizeof address);
    snprintf(text, IDENTITY_TEXT_BYTES, is_six ? "[%s]:%u" : "%s:%u", address, identity.port);
    return text;
}

static void print_tls(FILE *out, const struct client_result *r)
{
    const uint64_t secured = tally_get(&r->tally.connections.secured);
    const uint64_t resumed = tally_get(&r->tally.connections.resumed);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    fprintf(out, "TLS          %s %s, %s resumed", units_format_count(a, secured),
            units_noun(secured, "handshake", "handshakes"), units_format_count(b, resumed));
    if (secured > 0)
        fprintf(out, " (%.4g %%)", 100 * units_round_share((double)resumed / (double)secured, 4));
    if (r->tls_version != NULL)
        fprintf(out, "; %s, %s", r->tls_version, r->tls_cipher);
    fputc('\n', out);
}

static void print_proxy(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const struct client_config *config = about->config;
    const uint64_t n = tally_get(&r->tally.headers);
    char count[UNITS_TEXT_BYTES], first[IDENTITY_TEXT_BYTES], last[IDENTITY_TEXT_BYTES];

    fprintf(out, "PROXY        %s %s %s sent, clients %s to %s\n", units_format_count(count, n),
            version_of(config), units_noun(n, "header", "headers"), identity_text(first, config, 0),
            identity_text(last, config, r->last_connection));
}

static void print_udp(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const uint64_t n = tally_get(&r->tally.datagrams.malformed);
    char text[UNITS_TEXT_BYTES];

    fprintf(out, "UDP          %s %s malformed", units_format_count(text, n),
            units_noun(n, "datagram", "datagrams"));
    fprintf(out, ", %s dropped by this host\n",
            about->config->knows_drops
                ? units_format_count(text, tally_get(&r->tally.datagrams.dropped))
                : "an unknown number");
}

void report_transport_text(FILE *out, const struct report_about *about,
                           const struct client_result *r)
{
    if (about->config->tls != NULL)
        print_tls(out, r);
    if (about->config->proxy != PROXY_HEADER_NONE)
        print_proxy(out, about, r);
    if (about->config->socket.datagrams)
        print_udp(out, about, r);
}

/* --- JSON --- */

static void put_tls(struct json *j, const struct report_about *about, const struct client_result *r)
{
    if (!json_object_begin_if(j, "tls", about->config->tls != NULL))
        return;
    json_string(j, "library", tls_library());
    json_string(j, "version", r->tls_version);
    json_string(j, "cipher", r->tls_cipher);
    json_u64(j, "handshakes", tally_get(&r->tally.connections.secured));
    json_u64(j, "resumed", tally_get(&r->tally.connections.resumed));
    json_object_end(j);
}

static void put_proxy(struct json *j, const struct report_about *about,
                      const struct client_result *r)
{
    const struct client_config *config = about->config;
    char text[IDENTITY_TEXT_BYTES];

    if (!json_object_begin_if(j, "proxy", config->proxy != PROXY_HEADER_NONE))
        return;
    json_string(j, "version", version_of(config));
    json_string(j, "first_identity", identity_text(text, config, 0));
    json_string(j, "last_identity", identity_text(text, config, r->last_connection));
    json_u64(j, "headers", tally_get(&r->tally.headers));
    json_u64(j, "header_bytes", tally_get(&r->tally.header_bytes));
    json_object_end(j);
}

static void put_udp(struct json *j, const struct report_about *about, const struct client_result *r)
{
    if (!json_object_begin_if(j, "udp", about->config->socket.datagrams))
        return;
    json_u64(j, "malformed", tally_get(&r->tally.datagrams.malformed));
    json_known_u64(j, "dropped",
                   about->config->knows_drops ? tally_get(&r->tally.datagrams.dropped)
                                              : UINT64_MAX);
    json_object_end(j);
}

void report_transport_json(struct json *j, const struct report_about *about,
                           const struct client_result *r)
{
    put_tls(j, about, r);
    put_proxy(j, about, r);
    put_udp(j, about, r);
}
