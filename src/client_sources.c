/* SPDX-License-Identifier: MIT
 * client_sources: see client_sources.h. */
#include "client_sources.h"

#include "complain.h"
#include "oslimits.h"
#include "sources.h"

#include <stdio.h>
#include <string.h>

enum { FALLBACK_FIRST_PORT = 1024 };

/* --- from the options --- */

static int read_addresses(struct client_plan *plan, const struct client_opts *o)
{
    char error[SRCPLAN_ERROR_BYTES];

    srcplan_init(&plan->config.plan);
    if (o->source != NULL && sources_add(&plan->config.plan, o->source, error) != 0)
        return complain("--source: %s", error);
    return 0;
}

static int read_ports(struct client_plan *plan, const struct client_opts *o,
                      const struct hostfacts *host)
{
    struct srcplan *tuples = &plan->config.plan;
    char error[SRCPLAN_ERROR_BYTES], all[32];
    const uint64_t first = host->first_unprivileged_port;

    if (o->source == NULL && o->sport == NULL)
        return 0;
    snprintf(all, sizeof all, "%u-65535",
             first >= 1 && first <= UINT16_MAX ? (unsigned)first : FALLBACK_FIRST_PORT);
    if (srcplan_add_ports(tuples, o->sport != NULL ? o->sport : all, error) != 0)
        return complain("--sport: %s", error);
    plan->n_excluded_ports = oslimits_exclude_unusable_ports(tuples);
    return 0;
}

int client_sources_read(struct client_plan *plan, const struct client_opts *o,
                        const struct hostfacts *host)
{
    return read_addresses(plan, o) != 0 || read_ports(plan, o, host) != 0 ? -1 : 0;
}

/* --- towards the target --- */

/* Whether a connection can have the target's address as its own. */
static bool is_a_source(const struct srcplan *tuples, const struct sock_address *target)
{
    const struct srcplan_tuple there = sock_tuple(target);
    struct sock_address source;
    struct srcplan_tuple here;

    if (tuples->n_ranges > 0)
        return srcplan_has_address(tuples, &there.address);
    if (sock_route_source(target, &source) != 0)
        return false;
    here = sock_tuple(&source);
    return memcmp(here.address.bytes, there.address.bytes, sizeof here.address.bytes) == 0;
}

/* Where the kernel chooses, one destination has its port range once. */
static uint64_t tuples_available(const struct srcplan *tuples, const struct hostfacts *host)
{
    if (tuples->ports != NULL)
        return srcplan_capacity(tuples);
    if (host->first_ephemeral_port == HOSTFACTS_UNKNOWN)
        return HOSTFACTS_UNKNOWN;
    return host->last_ephemeral_port - host->first_ephemeral_port + 1;
}

int client_sources_fit_target(struct client_plan *plan, const struct hostfacts *host)
{
    struct client_config *c = &plan->config;
    const uint16_t port = sock_port(&c->target);

    c->may_meet_itself = is_a_source(&c->plan, &c->target);
    if (c->may_meet_itself && c->plan.ports != NULL) {
        plan->n_excluded_ports += srcplan_exclude_port(&c->plan, port);
        if (c->plan.n_ports == 0)
            return complain("--sport: '%u' is the port of %s itself: expected other source ports",
                            port, plan->target);
    }
    plan->n_tuples = tuples_available(&c->plan, host);
    return 0;
}
