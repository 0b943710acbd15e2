/* SPDX-License-Identifier: MIT
 * client_wait: see client/worker/wait.h. */
#include "client/worker/wait.h"

#include "net/worker.h"

static void on_waited(evutil_socket_t fd, short what, void *arg)
{
    struct client_conn *c = arg;

    (void)fd;
    (void)what;
    c->transport->ops->waited(c->transport->owner, c);
}

int client_wait_start(struct client_conn *c, const struct timeval *wait)
{
    event_assign(&c->event, c->transport->base, -1, 0, on_waited, c);
    return worker_add_timeout(&c->event, wait);
}

void client_wait_stop(struct client_conn *c)
{
    if (c->state == CLIENT_CONN_ENDED && event_initialized(&c->event))
        event_del(&c->event);
}
