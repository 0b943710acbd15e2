/* SPDX-License-Identifier: MIT
 * client_control: see client/control.h. */
#include "client/control.h"

#include "base/json.h"
#include "client/metrics.h"

#include <inttypes.h>
#include <stdlib.h>

#define REFUSE(status, ...)                                                                        \
    (snprintf(reply->error, sizeof reply->error, __VA_ARGS__), CONTROL_##status)

/* --- showing the run --- */

static enum control_status show_metrics(const struct client_control *c, struct control_reply *reply,
                                        const struct client_result *now)
{
    struct openmetrics m;

    openmetrics_init(&m, reply->out, reply->accept);
    client_metrics(&m, c->about->config, now);
    reply->content_type = openmetrics_content_type(&m);
    return CONTROL_OK;
}

static enum control_status show_stats(const struct client_control *c, struct control_reply *reply,
                                      const struct client_result *now)
{
    struct report_about about = *c->about;

    about.rate_qps = now->requested_qps;
    about.has_queries |= about.rate_qps > 0; /* since by request */
    report_json(reply->out, &about, now);
    return CONTROL_OK;
}

/* --- changing the run --- */

static enum control_status answer_moment(const struct client_control *c,
                                         struct control_reply *reply, const char *key, double qps,
                                         uint64_t at_ns)
{
    struct json j;

    json_init(&j, reply->out);
    json_object_begin(&j, NULL);
    if (key == NULL)
        json_double(&j, "rate_qps", qps);
    else
        json_bool(&j, key, c->steer->paused);
    json_double(&j, "from_s", (double)(at_ns - c->steer->begin_ns) / 1e9);
    json_double(&j, "paused_s", (double)client_steer_paused_ns(c->steer, at_ns) / 1e9);
    json_object_end(&j);
    return CONTROL_OK;
}

static enum control_status change_rate(const struct client_control *c, double qps,
                                       struct control_reply *reply)
{
    uint64_t at_ns;

    if (!client_config_has_rate(c->steer->config))
        return REFUSE(NOT_NOW, "closed loops and listeners have no rate");
    if (client_steer_rate(c->steer, qps, &at_ns) != 0)
        return REFUSE(TOO_OFTEN, "too many changes in one second");
    return answer_moment(c, reply, NULL, qps, at_ns);
}

static enum control_status change_pause(const struct client_control *c, bool paused,
                                        struct control_reply *reply)
{
    uint64_t at_ns;

    if (!client_config_has_rate(c->steer->config))
        return REFUSE(NOT_NOW, "closed loops and listeners have no rate");
    if (client_steer_pause(c->steer, paused, &at_ns) != 0)
        return REFUSE(TOO_OFTEN, "too many changes in one second");
    return answer_moment(c, reply, "paused", 0, at_ns);
}

static enum control_status change_connections(const struct client_control *c, uint64_t n_start,
                                              uint64_t n_stop, const struct client_result *now,
                                              struct control_reply *reply)
{
    const struct client_config *config = c->steer->config;
    const uint64_t wanted = c->steer->targets.n_connections;
    struct json j;

    if (config->population.n > 0)
        return REFUSE(NOT_NOW, "--conn-schedule sets the number of connections");
    if (config->on_demand)
        return REFUSE(NOT_NOW, "--on-demand: queries open the connections");
    if (config->n_classes > 0)
        return REFUSE(NOT_NOW, "--class: classes share a fixed number of connections");
    if (n_start > 0 && now->shortage[0] != '\0')
        return REFUSE(NOT_NOW, "memory ran short: this run opens no more connections");
    if (n_start > config->n_connections - wanted)
        return REFUSE(NOT_NOW, "at most %" PRIu64 " more can be started: see --max-connections",
                      config->n_connections - wanted);
    n_stop = n_stop < wanted ? n_stop : wanted;
    if (client_steer_connections(c->steer, (uint32_t)(wanted + n_start - n_stop)) != 0)
        return REFUSE(TOO_OFTEN, "the previous change is still being applied: try again");
    json_init(&j, reply->out);
    json_object_begin(&j, NULL);
    json_u64(&j, n_start > 0 ? "started" : "stopped", n_start > 0 ? n_start : n_stop);
    json_u64(&j, "wanted", c->steer->targets.n_connections);
    json_u64(&j, "live", now->connections_live);
    json_object_end(&j);
    return CONTROL_OK;
}

static enum control_status stop(struct client_control *c, struct control_reply *reply)
{
    struct json j;

    c->stopped = true;
    c->stop(c->run);
    json_init(&j, reply->out);
    json_object_begin(&j, NULL);
    json_bool(&j, "stopping", true);
    json_object_end(&j);
    return CONTROL_OK;
}

/* --- requests --- */

static enum control_status answer(struct client_control *c, const struct control_request *q,
                                  const struct client_result *now, struct control_reply *reply)
{
    if (q->command == CONTROL_STATS)
        return show_stats(c, reply, now);
    if (q->command == CONTROL_METRICS)
        return show_metrics(c, reply, now);
    if (q->command == CONTROL_STOP)
        return stop(c, reply);
    if (now->state == CLIENT_RUN_CONNECTING)
        return REFUSE(NOT_NOW, "the run has not started: %" PRIu64 " of %" PRIu64 " connected",
                      tally_get(&now->tally.connections.connected), now->connections_requested);
    if (c->stopped || (now->state != CLIENT_RUN_RUNNING && now->state != CLIENT_RUN_PAUSED))
        return REFUSE(NOT_NOW, "the run is over");
    if (c->searches)
        return REFUSE(NOT_NOW, "--find sets the load");
    switch (q->command) {
    case CONTROL_START_CONNECTIONS:
        return change_connections(c, q->n, 0, now, reply);
    case CONTROL_STOP_CONNECTIONS:
        return change_connections(c, 0, q->n, now, reply);
    case CONTROL_RATE:
        return change_rate(c, q->qps, reply);
    default:
        return change_pause(c, q->command == CONTROL_PAUSE, reply);
    }
}

static enum control_status handle(void *context, const struct control_request *q,
                                  struct control_reply *reply)
{
    struct client_control *c = context;
    struct client_result *now = malloc(sizeof *now);
    enum control_status status;

    if (now == NULL)
        return REFUSE(NO_MEMORY, "out of memory");
    c->snapshot(c->run, now);
    status = answer(c, q, now, reply);
    free(now);
    return status;
}

int client_control_start(struct client_control *c, struct event_base *base,
                         struct control_socket *socket, const struct control_token *token)
{
    c->http = control_http_start(base, socket, token, ~0u, handle, c);
    return c->http != NULL ? 0 : -1;
}

void client_control_end(struct client_control *c)
{
    control_http_end(c->http);
    c->http = NULL;
}
