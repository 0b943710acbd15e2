/* SPDX-License-Identifier: MIT
 * server_control: the requests of tcpserver's control port: counters, closing connections, pausing,
 * stopping.  Main thread. */
#ifndef TCPSCALER_SERVER_CONTROL_H
#define TCPSCALER_SERVER_CONTROL_H

#include "net/control_http.h"
#include "server/report.h"
#include "server/workers.h"

struct server_control {
    struct event_base *base;
    const struct server_workers *workers;
    struct server_result *result;
    void (*collect)(void *context); /* updates *result */
    void *context;
    struct control_http *http; /* set here */
};

/* The caller owns *c and sets all fields but http.  Returns 0 or -1; errno may not say why. */
int server_control_start(struct server_control *c, struct control_socket *socket,
                         const struct control_token *token);
void server_control_end(struct server_control *c);

#endif
