/* SPDX-License-Identifier: MIT
 * client_sources: see client/sources.h. */
#include "client/sources.h"

#include "base/log.h"
#include "client/destinations.h"
#include "host/netdev.h"
#include "host/preflight_tuples.h"
#include "host/proc_number.h"
#include "host/process_limits.h"
#include "host/sockdiag.h"
#include "host/source_list.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { FALLBACK_FIRST_PORT = 1024, ALL_PORTS_BYTES = 32 };

/* Testing one takes 3 us; with all its ports, 4,096 are enough for any run. */
#define MOST_ADDRESSES_TESTED 4096u

/* If this host has no more TCP sockets, those towards the target are listed: 60,000 took 0.25 s. */
#define MOST_SOCKETS_LISTED 100000u

/* --- from the options --- */

static int read_addresses(struct client_config *config, const struct client_opts *o)
{
    char error[SOURCE_LIST_ERROR_BYTES];

    srcplan_init(&config->plan);
    if (o->source != NULL && source_list_add(&config->plan, o->source, error) != 0)
        return log_error("--source: %s", error);
    return 0;
}

static int read_identities(struct client_config *config, const struct client_opts *o)
{
    char error[SOURCE_LIST_ERROR_BYTES];

    srcplan_init(&config->identities);
    config->proxy = (enum proxy_header_version)o->proxy;
    if (o->proxy_source != NULL &&
        source_list_add(&config->identities, o->proxy_source, error) != 0)
        return log_error("--proxy-source: %s", error);
    return 0;
}

static void name_all_ports(char text[ALL_PORTS_BYTES], const struct host_limits *host)
{
    const uint64_t first = host->first_unprivileged_port;

    snprintf(text, ALL_PORTS_BYTES, "%u-65535",
             first >= 1 && first <= UINT16_MAX ? (unsigned)first : FALLBACK_FIRST_PORT);
}

/* A UDP socket for which the kernel chooses the address is first bound to all of them. */
static uint32_t exclude_unusable_ports(struct srcplan *p, const struct client_config *c,
                                       bool has_address)
{
    return c->socket.datagrams ? process_limits_exclude_unusable_udp_ports(p, !has_address)
                               : process_limits_exclude_unusable_ports(p);
}

/* Counts the ports that an address of --source would have. */
static uint32_t count_unusable_ports(const char *all, const struct client_config *c)
{
    char error[SRCPLAN_ERROR_BYTES];
    struct srcplan one;
    uint32_t n = 0;

    srcplan_init(&one);
    if (srcplan_add_ports(&one, all, error) == 0)
        n = exclude_unusable_ports(&one, c, true);
    srcplan_free(&one);
    return n;
}

static int read_ports(struct client_sources *s, struct client_config *c,
                      const struct client_opts *o, const struct host_limits *host)
{
    struct srcplan *tuples = &c->plan;
    char error[SRCPLAN_ERROR_BYTES], all[ALL_PORTS_BYTES];
    const char *ports = o->sport != NULL ? o->sport : all;

    name_all_ports(all, host);
    if (o->source == NULL && o->sport == NULL) {
        s->n_excluded_ports = count_unusable_ports(all, c);
        return 0;
    }
    if (srcplan_add_ports(tuples, ports, error) != 0)
        return log_error("--sport: %s", error);
    s->n_excluded_ports = exclude_unusable_ports(tuples, c, o->source != NULL);
    if (tuples->n_ports == 0)
        return log_error("--sport: invalid value '%.60s': expected ports that are neither reserved "
                         "nor %s",
                         ports, c->socket.datagrams ? "in use" : "listening");
    return 0;
}

int client_sources_read(struct client_sources *s, struct client_config *config,
                        const struct client_opts *o, const struct host_limits *host)
{
    return read_addresses(config, o) != 0 || read_identities(config, o) != 0 ||
                   read_ports(s, config, o, host) != 0
               ? -1
               : 0;
}

/* --- towards the target --- */

/* Finds the source address that the kernel would use for the target. */
static bool find_route(const struct sock_address *target, struct srcplan_tuple *route)
{
    struct sock_address source;

    if (sock_route_source(target, &source) != 0)
        return false;
    *route = sock_tuple(&source);
    return true;
}

static bool is_same_address(const struct srcplan_tuple *a, const struct srcplan_tuple *b)
{
    return memcmp(a->address.bytes, b->address.bytes, sizeof a->address.bytes) == 0;
}

/* Returns whether a connection can have the target's address as its source. */
static bool may_meet_itself(const struct client_config *c)
{
    const struct srcplan_tuple target = sock_tuple(&c->target);
    struct srcplan_tuple route;

    if (c->plan.n_ranges > 0)
        return srcplan_has_address(&c->plan, &target.address);
    return find_route(&c->target, &route) && is_same_address(&route, &target);
}

static bool has_range(const struct host_limits *host)
{
    return host->first_ephemeral_port >= 1 &&
           host->first_ephemeral_port <= host->last_ephemeral_port &&
           host->last_ephemeral_port <= UINT16_MAX;
}

/* With net.ipv6.ip_nonlocal_bind=1, bind(2) accepts any IPv6 address.  The route of a link-local
 * address depends on its interface. */
static bool may_be_foreign(const struct srcplan_address *address)
{
    struct sock_address own;

    if (address->family != AF_INET6 || address->scope != 0 ||
        proc_number("/proc/sys/net/ipv6/ip_nonlocal_bind", "", 0) != 1)
        return false;
    sock_set_tuple(&own, &(struct srcplan_tuple){.address = *address});
    return !sock_lacks_interface(&own) && !netdev_target_is_here(&own);
}

/* Addresses beyond MOST_ADDRESSES_TESTED are assumed to be usable. */
static void count_usable_addresses(struct client_sources *s, const struct client_config *c)
{
    const struct srcplan *p = &c->plan;
    struct srcplan_tuple tuple;

    s->unusable_address[0] = '\0';
    s->may_be_foreign = false;
    s->n_usable_addresses = p->n_addresses > 0 ? p->n_addresses : HOST_LIMITS_UNKNOWN;
    for (uint64_t i = 0; i < p->n_addresses && i < MOST_ADDRESSES_TESTED; i++) {
        srcplan_at(p, i * p->n_ports, &tuple);
        s->unusable = sock_test_source(&tuple.address, &c->target);
        s->may_be_foreign = s->unusable == SOCK_SOURCE_USABLE && may_be_foreign(&tuple.address);
        if (s->unusable == SOCK_SOURCE_USABLE && !s->may_be_foreign)
            continue;
        inet_ntop(tuple.address.family, tuple.address.bytes, s->unusable_address,
                  sizeof s->unusable_address);
        s->n_usable_addresses = i;
        return;
    }
}

static enum sock_route test_route(const struct client_config *c, const struct srcplan_tuple *from)
{
    return c->socket.datagrams ? sock_test_route(&c->target, from)
                               : netdev_test_route(&c->target, from);
}

/* Addresses beyond MOST_ADDRESSES_TESTED are assumed to have a route. */
static void test_routes(struct client_sources *s, const struct client_config *c)
{
    const struct srcplan *p = &c->plan;
    struct srcplan_tuple from = {.address.family = AF_UNSPEC};

    s->routeless_address[0] = '\0';
    s->n_routed_addresses = 0;
    s->route = p->n_addresses == 0 ? test_route(c, &from) : SOCK_ROUTE_FOUND;
    for (uint64_t i = 0; i < p->n_addresses && i < MOST_ADDRESSES_TESTED; i++) {
        if (i == s->n_usable_addresses)
            return;
        srcplan_at(p, i * p->n_ports, &from);
        s->route = test_route(c, &from);
        if (s->route != SOCK_ROUTE_FOUND) {
            inet_ntop(from.address.family, from.address.bytes, s->routeless_address,
                      sizeof s->routeless_address);
            return;
        }
        s->n_routed_addresses++;
    }
}

/* Adds the ports that the kernel would select from. */
static int add_kernels_tuples(struct srcplan *p, const struct srcplan_address *route,
                              const struct host_limits *host)
{
    char address[INET6_ADDRSTRLEN], ports[32], error[SRCPLAN_ERROR_BYTES];

    inet_ntop(route->family, route->bytes, address, sizeof address);
    snprintf(ports, sizeof ports, "%u-%u", (unsigned)host->first_ephemeral_port,
             (unsigned)host->last_ephemeral_port);
    return srcplan_add_sources(p, address, error) != 0 || srcplan_add_ports(p, ports, error) != 0
               ? -1
               : 0;
}

static uint32_t exclude_port_of(struct srcplan *p, const struct sock_address *target)
{
    return srcplan_exclude_ports(p, sock_port(target), sock_port(target));
}

static void plan_fallback(struct client_config *c, const struct host_limits *host)
{
    struct srcplan_tuple route;

    srcplan_init(&c->fallback);
    if (c->plan.ports != NULL || c->socket.datagrams || !has_range(host) ||
        !find_route(&c->target, &route))
        return;
    if (add_kernels_tuples(&c->fallback, &route.address, host) != 0) {
        srcplan_free(&c->fallback);
        return;
    }
    process_limits_exclude_unusable_ports(&c->fallback);
    if (!c->may_meet_itself)
        return;
    (void)exclude_port_of(&c->fallback, &c->target);
    for (uint32_t k = 0; k < c->n_classes; k++)
        (void)exclude_port_of(&c->fallback, &c->classes[k].target);
}

/* Each tuple can have one socket, whatever the destination. */
static uint64_t count_kernels_udp_ports(const struct client_config *c,
                                        const struct host_limits *host)
{
    const struct srcplan_address any = {.family = c->target.ss.ss_family};
    struct srcplan p;
    uint64_t n = HOST_LIMITS_UNKNOWN;

    srcplan_init(&p);
    if (add_kernels_tuples(&p, &any, host) == 0) {
        (void)exclude_unusable_ports(&p, c, false);
        n = p.n_ports;
    }
    srcplan_free(&p);
    return n;
}

/* If the kernel selects, each destination has the whole port range, less the ports that it skips:
 * reserved and listening ones, which the fallback plan leaves out, too. */
static uint64_t tuples_available(const struct client_config *c, const struct host_limits *host)
{
    if (c->plan.ports != NULL)
        return srcplan_capacity(&c->plan);
    if (c->fallback.ports != NULL)
        return srcplan_capacity(&c->fallback);
    if (!has_range(host))
        return HOST_LIMITS_UNKNOWN;
    if (c->socket.datagrams)
        return count_kernels_udp_ports(c, host);
    return host->last_ephemeral_port - host->first_ephemeral_port + 1;
}

struct members {
    const struct srcplan *plan;
    uint8_t ports[(UINT16_MAX + 1) / 8]; /* a bit for each port, set if the plan has it */
};

static bool is_member(const void *context, const struct srcplan_tuple *source)
{
    const struct members *m = context;

    return (m->ports[source->port / 8] >> source->port % 8 & 1) != 0 &&
           (m->plan->n_ranges == 0 || srcplan_has_address(m->plan, &source->address));
}

/* A UDP socket keeps others, whatever their peer, from its address and port.  The ports of those
 * that are bound to all addresses are not in the plan. */
static void list_taken_by_udp(struct sockdiag_tuples *taken, const struct client_config *c,
                              const struct members *m)
{
    if (c->plan.n_ranges > 0 &&
        sockdiag_udp_tuples(c->target.ss.ss_family, is_member, m, taken) != 0)
        taken->n_open = 0; /* unknown */
}

/* Returns whether these are known. */
static bool list_taken(struct sockdiag_tuples *taken, const struct client_config *c,
                       const struct sock_address *server, const struct host_limits *host)
{
    struct members m = {.plan = c->plan.ports != NULL ? &c->plan : &c->fallback};
    const bool with_open = host->sockets_in_use > 0 && host->sockets_in_use <= MOST_SOCKETS_LISTED;

    *taken = (struct sockdiag_tuples){.n_time_wait = 0};
    if (m.plan->ports == NULL)
        return c->socket.datagrams;
    for (uint32_t i = 0; i < m.plan->n_ports; i++)
        m.ports[m.plan->ports[i] / 8] |= (uint8_t)(1 << m.plan->ports[i] % 8);
    if (c->socket.datagrams) {
        list_taken_by_udp(taken, c, &m);
        return true;
    }
    return (host->sockets_in_time_wait == 0 && !with_open) ||
           sockdiag_tuples(server, with_open, is_member, &m, taken) == 0;
}

static void count_taken(struct client_sources *s, const struct client_config *c,
                        const struct host_limits *host)
{
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n_servers = client_destinations(c, servers);
    /* those that the kernel chooses are available once for each */
    const bool per_port = c->plan.ports == NULL && !c->socket.datagrams;
    uint64_t most = 0;

    for (unsigned i = 0; i < n_servers; i++) {
        const uint32_t n_elsewhere = client_destinations_n_elsewhere(c, servers[i]);
        struct sockdiag_tuples taken;
        const bool is_known = list_taken(&taken, c, servers[i], host);
        const uint64_t n_lacking =
            taken.n_open + (preflight_tuples_reuse(host) ? 0 : taken.n_time_wait) +
            (per_port && c->n_connections > n_elsewhere ? c->n_connections - n_elsewhere : 0);

        if (i > 0 && n_lacking <= most)
            continue;
        most = n_lacking;
        s->n_elsewhere = n_elsewhere;
        s->n_in_use = taken.n_open;
        s->n_time_wait = is_known ? taken.n_time_wait : HOST_LIMITS_UNKNOWN;
        s->time_wait_ends_s = (taken.ends_ms + 999) / 1000;
    }
}

int client_sources_fit_target(struct client_sources *s, struct client_config *c, const char *target,
                              const struct host_limits *host)
{
    const uint16_t port = sock_port(&c->target);

    c->may_meet_itself = may_meet_itself(c);
    if (c->may_meet_itself && c->plan.ports != NULL) {
        s->n_excluded_ports += exclude_port_of(&c->plan, &c->target);
        for (uint32_t k = 0; k < c->n_classes; k++)
            s->n_excluded_ports += exclude_port_of(&c->plan, &c->classes[k].target);
        if (c->plan.n_ports == 0)
            return log_error("--sport: invalid value '%u': expected ports other than that of %s",
                             port, target);
    }
    plan_fallback(c, host);
    count_usable_addresses(s, c);
    test_routes(s, c);
    s->loopback_is_down = c->target_is_here && netdev_is_down("lo");
    s->n_tuples = tuples_available(c, host);
    count_taken(s, c, host);
    return 0;
}

void client_sources_free(struct client_config *config)
{
    srcplan_free(&config->plan);
    srcplan_free(&config->fallback);
    srcplan_free(&config->identities);
}
