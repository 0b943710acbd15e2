/* SPDX-License-Identifier: MIT
 * client_opts_classes: see client/opts_classes.h. */
#include "client/opts_classes.h"

#include "client/opts_class.h"

#include <math.h>

bool client_opts_all_use_tls(const struct client_opts *o)
{
    bool all = o->tls || o->n_classes > 0;

    for (unsigned k = 0; k < o->n_classes; k++)
        all = all && o->classes[k].opts.tls;
    return all;
}

bool client_opts_uses_tls(const struct client_opts *o)
{
    bool uses_tls = o->tls && o->n_classes == 0;

    for (unsigned k = 0; k < o->n_classes; k++)
        uses_tls |= o->classes[k].opts.tls;
    return uses_tls;
}

/* A class without a load of its own gets the same share of --rate as of the connections. */
double client_opts_class_rate_qps(const struct client_opts *o, unsigned k)
{
    const struct client_opts_class *c = &o->classes[k];
    const double n = (double)c->n_connections;

    if (client_opts_has_schedule(o))
        return 0;
    if (c->opts.interval_ns > 0)
        return n * 1e9 / (double)c->opts.interval_ns;
    return c->has_rate ? c->opts.rate_qps : c->opts.rate_qps * n / (double)o->connections;
}

double client_opts_classes_rate_qps(const struct client_opts *o)
{
    double sum = 0;

    for (unsigned k = 0; k < o->n_classes; k++)
        sum += client_opts_class_rate_qps(o, k);
    return sum;
}

double client_opts_class_part(const struct client_opts *o, unsigned k)
{
    const double sum_qps = client_opts_classes_rate_qps(o);

    return sum_qps > 0 ? client_opts_class_rate_qps(o, k) / sum_qps
                       : (double)o->classes[k].n_connections / (double)o->connections;
}

uint32_t client_opts_queries_per_conn(const struct client_opts *o)
{
    double per_query = 0; /* connections opened for a query of the run */
    bool churns = false;

    if (o->n_classes == 0)
        return (uint32_t)o->queries_per_conn;
    for (unsigned k = 0; k < o->n_classes; k++) {
        const uint64_t most = o->classes[k].opts.queries_per_conn;

        churns |= most > 0;
        per_query += most > 0 ? client_opts_class_part(o, k) / (double)most : 0;
    }
    if (!churns)
        return 0;
    return per_query * UINT32_MAX > 1 ? (uint32_t)ceil(1 / per_query) : UINT32_MAX;
}
