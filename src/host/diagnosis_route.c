/* SPDX-License-Identifier: MIT
 * diagnosis_route: see host/diagnosis_route.h. */
#include "host/diagnosis_route.h"

static uint64_t count_foreign_sources(const struct diagnosis_input *in)
{
    return tally_get(&in->tally->connections.ended[PHASE_BIND][REASON_UNREACHABLE]);
}

/* send(2) on a UDP socket looks for a route anew; TCP reports only what ICMP says. */
static uint64_t count_lost_routes(const struct diagnosis_input *in)
{
    return in->over_udp ? tally_get(&in->tally->connections.ended[PHASE_SEND][REASON_UNREACHABLE])
                        : 0;
}

void diagnosis_route_sources(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = count_foreign_sources(in);
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, "source addresses", n);
    diagnosis_line_say(line->evidence, "bind(2) says that their source address is not local");
    diagnosis_line_say(line->remedy,
                       "add the addresses to an interface (ip addr), or correct --source");
}

void diagnosis_route_missing(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_ROUTE) + count_lost_routes(in);
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, outcome_reason_name(REASON_ROUTE), n);
    diagnosis_line_say(line->evidence, "this host has no route to %s", in->target);
    diagnosis_line_say(line->remedy, "%s", outcome_remedy(REASON_ROUTE));
}

void diagnosis_route_unreachable(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_UNREACHABLE) - count_foreign_sources(in) -
                       count_lost_routes(in);
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, outcome_reason_name(REASON_UNREACHABLE), n);
    diagnosis_line_say(line->evidence, "ICMP messages say that packets do not reach %s",
                       in->target);
    diagnosis_line_say(line->remedy, "check that its address exists, the routes on the way, and "
                                     "the firewalls, that of the server included");
}

void diagnosis_route_forbidden(struct diagnosis *d, const struct diagnosis_input *in)
{
    const uint64_t n = diagnosis_line_count(in, REASON_PERMISSION);
    struct diagnosis_line *line;

    if (n == 0)
        return;
    line = diagnosis_line_add(d, outcome_reason_name(REASON_PERMISSION), n);
    diagnosis_line_say(line->evidence, "this host refuses to send (EPERM, EACCES)");
    diagnosis_line_say(line->remedy, "check its firewall, routes of type prohibit, and whether "
                                     "--sport includes privileged ports");
}
