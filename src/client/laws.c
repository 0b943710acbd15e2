/* SPDX-License-Identifier: MIT
 * client_laws: see client/laws.h. */
#include "client/laws.h"

const char *client_laws_broken_by_classes(const struct client_result *r, uint32_t n_classes)
{
    struct class_values values[CLIENT_CLASS_MOST];

    for (uint32_t k = 0; k < n_classes; k++)
        values[k] = (struct class_values){r->class_times[k].response.count,
                                          r->class_times[k].response.beyond};
    return n_classes > 0 ? class_tally_check(r->class_tallies, values, n_classes, &r->tally) : NULL;
}

const char *client_laws_broken(const struct client_result *r, const struct client_config *config)
{
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const char *law =
        tally_check(&r->tally, r->connections_requested, response->count, response->beyond);

    if (law == NULL && config->on_demand)
        law = tally_check_demand(&r->tally, config->keepalive);
    if (law == NULL)
        law = client_laws_broken_by_classes(r, config->n_classes);
    if (law == NULL && r->has_rows &&
        tally_get(&r->tally.queries[TALLY_MEASURED].answered) +
                tally_get(&r->tally.push.measured) !=
            r->rows.written[1] + r->rows.dropped[1] + r->rows.left_out[1])
        law = "answered queries, messages = answer rows written, missing and not sampled";
    return law;
}
