/* SPDX-License-Identifier: MIT
 * client_control: the requests of tcpclient's control port: shows the current result, changes rate
 * and connections, pauses and stops the run.  Main thread. */
#ifndef TCPSCALER_CLIENT_CONTROL_H
#define TCPSCALER_CLIENT_CONTROL_H

#include "client/report.h"
#include "client/result.h"
#include "client/steer.h"
#include "net/control_http.h"

#include <stdbool.h>

struct client_control {
    struct client_steer *steer;
    const struct report_about *about;
    bool searches;                                             /* a search sets the load */
    void (*snapshot)(void *run, struct client_result *result); /* fills in the result so far */
    void (*stop)(void *run);
    void *run;
    /* set here */
    struct control_http *http;
    bool stopped; /* by a request: nothing can be changed any more */
};

/* The caller owns *c and sets all other fields.  Returns 0 or -1; errno may not say why. */
int client_control_start(struct client_control *c, struct event_base *base,
                         struct control_socket *socket, const struct control_token *token);
void client_control_end(struct client_control *c);

#endif
