/* SPDX-License-Identifier: MIT
 * client_wait: see client/worker/wait.h. */
#include "client/worker/wait.h"

static void on_waited(struct polled *s, short what)
{
    struct client_conn *c = client_conn_of(s);

    (void)what;
    c->transport->ops->waited(c->transport->owner, c);
}

int client_wait_start(struct client_conn *c, const struct timeval *wait)
{
    c->socket.fd = -1;
    c->socket.callback = on_waited;
    return poller_set_own_timeout(&c->transport->poller, &c->socket, wait);
}

void client_wait_stop(struct client_conn *c)
{
    if (c->state == CLIENT_CONN_ENDED)
        poller_clear_timeout(&c->socket);
}
