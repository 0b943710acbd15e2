/* SPDX-License-Identifier: MIT
 * client_plan_schedule: see client/plan_schedule.h. */
#include "client/plan_schedule.h"

#include "base/log.h"
#include "client/schedule.h"

#include <inttypes.h>

int client_plan_population(struct client_config *config, const struct client_opts *o)
{
    config->n_connections = (uint32_t)o->connections;
    if (o->conn_schedule == NULL)
        return 0;
    if (client_schedule_read_connections(&config->population, o) != 0)
        return -1;
    config->n_connections = (uint32_t)(schedule_peak_qps(&config->population) + 0.5);
    if (o->threads > config->n_connections)
        return log_error("--threads: invalid value '%" PRIu64
                         "': expected at most one per connection (%" PRIu32 ")",
                         o->threads, config->n_connections);
    return 0;
}

/* With --interval each scheduled connection adds its own queries. */
static int read_schedule(struct client_config *config, const struct client_opts *o)
{
    if (client_opts_has_schedule(o))
        return client_schedule_read(&config->schedule, o);
    config->schedule = config->population;
    schedule_scale(&config->schedule, 1e9 / (double)o->interval_ns);
    return 0;
}

static int plan_changing_rate(struct client_config *config, double *rate_qps,
                              const struct client_opts *o)
{
    if (read_schedule(config, o) != 0)
        return -1;
    config->duration_ns = schedule_duration_ns(&config->schedule);
    schedule_prepend_warmup(&config->schedule, o->warmup_ns);
    *rate_qps = schedule_mean_qps(&config->schedule, o->warmup_ns);
    return 0;
}

int client_plan_schedule(struct client_config *config, double *rate_qps,
                         const struct client_opts *o)
{
    const bool has_population = config->population.n > 0;

    config->warmup_ns = o->warmup_ns;
    if (client_opts_has_schedule(o) || (has_population && o->interval_ns > 0)) {
        if (plan_changing_rate(config, rate_qps, o) != 0)
            return -1;
    } else {
        config->duration_ns = has_population       ? schedule_duration_ns(&config->population)
                              : o->duration_ns > 0 ? o->duration_ns
                                                   : PACER_NEVER;
        *rate_qps = o->find != CLIENT_FIND_NONE ? 0 : client_opts_rate_qps(o);
        schedule_constant(&config->schedule, client_config_load_ns(config), *rate_qps);
    }
    if (o->loop == CLIENT_LOOP_CLOSED)
        schedule_constant(&config->schedule, client_config_load_ns(config), 0);
    return 0;
}

double client_plan_peak_qps(const struct client_config *config, const struct client_opts *o)
{
    return o->find == CLIENT_FIND_CONNECTIONS ? o->rate_qps
           : o->find != CLIENT_FIND_NONE      ? o->find_max
                                              : schedule_peak_qps(&config->schedule);
}

double client_plan_churn_per_s(const struct client_config *config, const struct client_opts *o,
                               double rate_qps)
{
    const double peak = client_plan_peak_qps(config, o);

    if (config->conn_per_query)
        return peak;
    /* of a sweep, the first value is the smallest */
    return config->queries_per_conn == 0
               ? 0
               : (o->find != CLIENT_FIND_NONE ? peak : rate_qps) / config->queries_per_conn;
}
