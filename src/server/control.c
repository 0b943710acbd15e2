/* SPDX-License-Identifier: MIT
 * server_control: see server/control.h. */
#include "server/control.h"

#include "base/json.h"
#include "base/shutdown.h"
#include "server/metrics.h"

static enum control_status refuse(struct control_reply *reply, enum control_status status,
                                  const char *why)
{
    snprintf(reply->error, sizeof reply->error, "%s", why);
    return status;
}

static enum control_status answer(struct control_reply *reply, const char *key, uint64_t value,
                                  uint64_t active)
{
    struct json j;

    json_init(&j, reply->out);
    json_object_begin(&j, NULL);
    json_u64(&j, key, value);
    json_u64(&j, "active", active);
    json_object_end(&j);
    return CONTROL_OK;
}

static enum control_status answer_flag(struct control_reply *reply, const char *key, bool value)
{
    struct json j;

    json_init(&j, reply->out);
    json_object_begin(&j, NULL);
    json_bool(&j, key, value);
    json_object_end(&j);
    return CONTROL_OK;
}

static enum control_status show_metrics(struct server_control *c, struct control_reply *reply)
{
    struct openmetrics m;

    c->collect(c->context);
    openmetrics_init(&m, reply->out, reply->accept);
    server_metrics(&m, c->result);
    reply->content_type = openmetrics_content_type(&m);
    return CONTROL_OK;
}

static enum control_status show_stats(struct server_control *c, struct control_reply *reply)
{
    c->collect(c->context);
    server_report_json(reply->out, c->result);
    return CONTROL_OK;
}

/* Each worker closes a share in proportion to its connections. */
static enum control_status stop_connections(struct server_control *c, uint64_t n,
                                            struct control_reply *reply)
{
    uint64_t total, before = 0;

    c->collect(c->context);
    total = c->result->active;
    n = n < total ? n : total;
    for (uint32_t i = 0; i < c->workers->n && total > 0; i++) {
        uint64_t after = before + server_tally_active(c->workers->tallies[i]), part;

        after = after < total ? after : total;
        part = n * after / total - n * before / total;
        before = after;
        if (part > 0)
            worker_post_more(&c->workers->list[i]->worker, SERVER_CLOSE_OLDEST, part);
    }
    return answer(reply, "stopped", n, total - n);
}

static enum control_status pause_accepting(struct server_control *c, bool paused,
                                           struct control_reply *reply)
{
    server_workers_post(c->workers, SERVER_PAUSE, paused);
    c->result->state = paused ? SERVER_PAUSED : SERVER_RUNNING;
    return answer_flag(reply, "paused", paused);
}

static enum control_status handle(void *context, const struct control_request *q,
                                  struct control_reply *reply)
{
    struct server_control *c = context;

    switch (q->command) {
    case CONTROL_STATS:
        return show_stats(c, reply);
    case CONTROL_METRICS:
        return show_metrics(c, reply);
    case CONTROL_STOP_CONNECTIONS:
        return stop_connections(c, q->n, reply);
    case CONTROL_PAUSE:
    case CONTROL_RESUME:
        return pause_accepting(c, q->command == CONTROL_PAUSE, reply);
    case CONTROL_STOP:
        shutdown_request(0);
        return answer_flag(reply, "stopping", true);
    case CONTROL_PATHS:
    case CONTROL_START_CONNECTIONS:
    case CONTROL_RATE:
        break;
    }
    /* Not reached: control_http rejects the request. */
    return refuse(reply, CONTROL_UNKNOWN, "no such path");
}

int server_control_start(struct server_control *c, struct control_socket *socket,
                         const struct control_token *token)
{
    static const unsigned known = CONTROL_BIT(CONTROL_STATS) | CONTROL_BIT(CONTROL_METRICS) |
                                  CONTROL_BIT(CONTROL_STOP_CONNECTIONS) |
                                  CONTROL_BIT(CONTROL_PAUSE) | CONTROL_BIT(CONTROL_RESUME) |
                                  CONTROL_BIT(CONTROL_STOP);

    c->http = control_http_start(c->base, socket, token, known, handle, c);
    return c->http != NULL ? 0 : -1;
}

void server_control_end(struct server_control *c)
{
    control_http_end(c->http);
    c->http = NULL;
}
