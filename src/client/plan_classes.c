/* SPDX-License-Identifier: MIT
 * client_plan_classes: see client/plan_classes.h. */
#include "client/plan_classes.h"

#include "client/opts_classes.h"
#include "client/plan_query.h"

#include <stdio.h>

int client_plan_classes_make(struct client_plan_classes *classes, struct client_config *config,
                             const struct client_opts *o)
{
    uint32_t n_before = 0;

    if (o->n_classes == 0)
        return 0;
    for (unsigned k = 0; k < o->n_classes; k++) {
        const struct client_opts_class *of = &o->classes[k];
        struct client_class *class = &classes->all[k];

        *class = (struct client_class){.n_before = n_before,
                                       .n_connections = of->n_connections,
                                       .part = client_opts_class_part(o, k),
                                       .arrival = of->opts.arrival,
                                       .select = of->opts.select,
                                       .interval_ns = of->opts.interval_ns,
                                       .target = config->target,
                                       .tls = of->opts.tls,
                                       .prove = of->opts.prove == CLIENT_YES,
                                       .queries_per_conn = (uint32_t)of->opts.queries_per_conn,
                                       .idle_close_ns = of->opts.idle_close_ns};
        if (of->opts.server.port != 0)
            sock_set_port(&class->target, of->opts.server.port);
        snprintf(class->name, sizeof class->name, "%s", of->name);
        n_before += of->n_connections;
        if (client_plan_query(&classes->queries[k], &of->opts, of->name) != 0)
            return -1;
    }
    config->classes = classes->all;
    config->class_queries = classes->queries;
    config->n_classes = o->n_classes;
    return 0;
}

void client_plan_classes_free(struct client_plan_classes *classes)
{
    for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
        query_free(&classes->queries[k]);
}
