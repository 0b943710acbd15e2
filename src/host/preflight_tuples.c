/* SPDX-License-Identifier: MIT
 * preflight_tuples: see host/preflight_tuples.h. */
#include "host/preflight_tuples.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* Linux: TIME_WAIT lasts 60 s and cannot be changed (include/net/tcp.h, TCP_TIMEWAIT_LEN). */
#define TIME_WAIT_S 60u

#define FIRST_PORT 1024u /* of --source, if ip_unprivileged_port_start is 0 or unknown */

enum { LAST_OF_GROUP = 255 };

#define SETUP_SOURCES "tcpscaler-setup-client --sources LIST --dev IFACE --apply"

bool preflight_tuples_reuse(const struct host_limits *host)
{
    return host->tcp_timestamps != 0 && host->tcp_timestamps != UNKNOWN;
}

/* Says where n more addresses come from: for IPv6, only one is local without setup. */
static const char *addresses_text(char text[PREFLIGHT_TEXT_BYTES],
                                  const struct preflight_client *ask, uint64_t n)
{
    if (!ask->peer_is_here || ask->ipv6)
        snprintf(text, PREFLIGHT_TEXT_BYTES, SETUP_SOURCES " adds %s", n == 1 ? "it" : "them");
    else if (n == 1)
        snprintf(text, PREFLIGHT_TEXT_BYTES, "127.0.0.2 needs no setup");
    else if (n < LAST_OF_GROUP - 1)
        snprintf(text, PREFLIGHT_TEXT_BYTES, "127.0.0.2-127.0.0.%" PRIu64 " need no setup", n + 1);
    else
        snprintf(text, PREFLIGHT_TEXT_BYTES, "those of 127.0.0.0/8 need no setup");
    return text;
}

/* Counts the ports of one more address: those from ip_unprivileged_port_start on
 * (client/sources.h). */
static uint64_t ports_per_address(const struct host_limits *host,
                                  const struct preflight_client *ask)
{
    const uint64_t first = host->first_unprivileged_port;
    const uint64_t n = UINT16_MAX + 1u - (first >= 1 && first <= UINT16_MAX ? first : FIRST_PORT);

    if (ask->explicit_ports && ask->n_addresses > 0)
        return ask->n_tuples / ask->n_addresses;
    return n > ask->n_excluded_ports ? n - ask->n_excluded_ports : 0;
}

/* TCP ports that the kernel chooses are available once for each port of the server; those of a plan
 * once, and so are those of UDP. */
static uint64_t tuples_needed(const struct preflight_client *ask)
{
    return ask->n_connections - (ask->explicit_ports || ask->udp ? 0 : ask->n_elsewhere);
}

static void check_tuples(struct preflight *p, const struct host_limits *host,
                         const struct preflight_client *ask)
{
    const uint64_t n_blocked =
        preflight_tuples_reuse(host) || ask->n_time_wait == UNKNOWN ? 0 : ask->n_time_wait;
    const uint64_t n_taken = ask->n_in_use + n_blocked;
    const uint64_t n_free = ask->n_tuples == UNKNOWN  ? UNKNOWN
                            : n_taken < ask->n_tuples ? ask->n_tuples - n_taken
                                                      : 0;
    const uint64_t needed = tuples_needed(ask), per_address = ports_per_address(host, ask);
    const uint64_t n_addresses =
        (ask->n_connections + ask->n_in_use - 1) / (per_address > 0 ? per_address : 1) + 1;
    struct preflight_line *line = preflight_line_add_short(p, "source tuples", n_free, needed);
    char text[PREFLIGHT_TEXT_BYTES], taken[64] = "";

    if (ask->n_in_use > 0)
        snprintf(taken, sizeof taken, "%" PRIu64 " are in use by other sockets: ", ask->n_in_use);
    if (line != NULL && ask->n_tuples >= needed + ask->n_in_use)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "wait %" PRIu64
                           " s for TIME_WAIT to end, or add tuples with --source or --sport (with "
                           "net.ipv4.tcp_timestamps=1, TCP can reuse those of later runs at once)",
                           ask->time_wait_ends_s);
    else if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "%suse --source with %" PRIu64 " %s (%s), or a wider --sport", taken,
                           n_addresses, units_noun(n_addresses, "address", "addresses"),
                           addresses_text(text, ask, n_addresses));
}

/* Tuples are used address by address (workload/srcplan.h). */
static uint64_t addresses_used(const struct preflight_client *ask)
{
    const uint64_t per_address =
        ask->n_tuples > ask->n_addresses ? ask->n_tuples / ask->n_addresses : 1;
    const uint64_t used = (ask->n_connections - 1) / per_address + 1;

    return used < ask->n_addresses ? used : ask->n_addresses;
}

static void check_addresses(struct preflight *p, const struct preflight_client *ask)
{
    struct preflight_line *line;

    if (ask->n_usable_addresses == UNKNOWN)
        return;
    line = preflight_line_add_short(p, "source addresses of this host", ask->n_usable_addresses,
                                    addresses_used(ask));
    if (line != NULL && ask->unusable_is_loopback)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "%s, of loopback, reaches only this host: correct --source",
                           ask->unusable_address);
    else if (line != NULL && ask->unusable_is_not_unicast)
        preflight_line_fix(
            line, PREFLIGHT_STOP,
            "%s, a wildcard, multicast or broadcast address, cannot be the source of "
            "a connection: correct --source",
            ask->unusable_address);
    else if (line != NULL && ask->unusable_may_be_foreign)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "unless rules of this host say otherwise, answers to %s do not reach "
                           "it: ip route add local %s dev lo",
                           ask->unusable_address, ask->unusable_address);
    else if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "%s is not an address of this host: add it (" SETUP_SOURCES
                           "), or correct --source",
                           ask->unusable_address);
}

static bool needs_a_route(const struct preflight_client *ask)
{
    return (ask->lacks_route || ask->route_is_denied) &&
           addresses_used(ask) > ask->n_routed_addresses;
}

/* A route may be added while the run waits. */
static void check_route(struct preflight *p, const struct preflight_client *ask)
{
    char from[PREFLIGHT_TEXT_BYTES] = "";
    struct preflight_line *line;

    if (!ask->loopback_is_down && !needs_a_route(ask))
        return;
    line = preflight_line_add(p, "route to the server", 0, 1);
    if (ask->n_usable_addresses != UNKNOWN)
        snprintf(from, sizeof from, " from %s", ask->routeless_address);
    if (ask->loopback_is_down)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "this host drops packets to its own addresses: ip link set lo up");
    else if (ask->lacks_route)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "connections%s fail (no route) until this host has one: check 'ip route "
                           "get ADDRESS%s'",
                           from, from);
    else
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "connections%s fail (not permitted) while the route is of type "
                           "prohibit: check 'ip route get ADDRESS%s'",
                           from, from);
}

/* Tuples in TIME_WAIT towards this target. */
static void check_time_wait(struct preflight *p, const struct host_limits *host,
                            const struct preflight_client *ask)
{
    struct preflight_line *line =
        preflight_line_add(p, "source tuples in TIME_WAIT", ask->n_time_wait, UNKNOWN);

    if (line->available == UNKNOWN || line->available == 0)
        return;
    if (preflight_tuples_reuse(host))
        preflight_line_fix(line, PREFLIGHT_OK,
                           "for %" PRIu64
                           " s more; reused at once if both ends used TCP timestamps",
                           ask->time_wait_ends_s);
    else
        preflight_line_fix(line, PREFLIGHT_OK, "for %" PRIu64 " s more%s", ask->time_wait_ends_s,
                           ask->closes_with_fin && !ask->listens ? "; --close rst leaves none"
                                                                 : "");
}

/* Bound with SO_REUSEADDR, TCP reuses a tuple in TIME_WAIT at once if both ends used timestamps on
 * its connection (Linux, tcp_twsk_unique()); if the kernel chooses the ports, the fallback plan
 * does so when it finds none (client/sources.h). */
uint64_t preflight_tuples_churn_per_s(const struct host_limits *host,
                                      const struct preflight_client *ask)
{
    if (ask->udp || ask->n_tuples == UNKNOWN || preflight_tuples_reuse(host))
        return UNKNOWN;
    return ask->n_tuples / TIME_WAIT_S;
}

static void check_churn(struct preflight *p, const struct host_limits *host,
                        const struct preflight_client *ask)
{
    const uint64_t needed =
        ask->churn_per_s > 0 && ask->closes_with_fin ? (uint64_t)(ask->churn_per_s + 0.5) : UNKNOWN;
    struct preflight_line *line = preflight_line_add(
        p, "connections/s sustainable with fin", preflight_tuples_churn_per_s(host, ask), needed);

    if (line->available != UNKNOWN && needed != UNKNOWN && line->available < needed)
        preflight_line_fix(
            line, PREFLIGHT_WARN,
            "use --close rst, or sysctl -w net.ipv4.tcp_timestamps=1 to reuse tuples in TIME_WAIT");
}

static void check_ports(struct preflight *p, const struct host_limits *host,
                        const struct preflight_client *ask)
{
    struct preflight_line *line;

    if (!ask->explicit_ports)
        return;
    if (host->first_unprivileged_port != UNKNOWN) {
        line = preflight_line_add(p, "lowest port bindable",
                                  host->may_bind_privileged ? 1 : host->first_unprivileged_port,
                                  ask->lowest_port);
        if (line->needed < line->available)
            preflight_line_fix(line, PREFLIGHT_STOP,
                               "sysctl -w net.ipv4.ip_unprivileged_port_start=%u, or run with "
                               "CAP_NET_BIND_SERVICE",
                               ask->lowest_port);
    }
    if (ask->udp)
        return;
    line = preflight_line_add(p, "net.ipv4.tcp_timestamps", host->tcp_timestamps, 1);
    if (line->available == 0)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "sysctl -w net.ipv4.tcp_timestamps=1 (otherwise ports in TIME_WAIT "
                           "cannot be reused at once)");
}

void preflight_tuples_check(struct preflight *p, const struct host_limits *host,
                            const struct preflight_client *ask)
{
    check_addresses(p, ask);
    check_route(p, ask);
    check_tuples(p, host, ask);
    if (!ask->udp) {
        check_time_wait(p, host, ask);
        check_churn(p, host, ask);
    }
    check_ports(p, host, ask);
}
