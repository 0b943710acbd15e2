/* SPDX-License-Identifier: MIT
 * client_session_state: what a session consists of, for its parts. */
#ifndef TCPSCALER_CLIENT_SESSION_STATE_H
#define TCPSCALER_CLIENT_SESSION_STATE_H

#include "client/opts.h"
#include "client/outputs.h"
#include "client/page.h"
#include "client/plan.h"
#include "client/servers.h"
#include "host/watch/watch_thread.h"
#include "measure/server_cost.h"
#include "net/control_socket.h"

#include <stdbool.h>

struct client_session {
    /* Set by the caller before it calls any of these functions. */
    char *const *command; /* argv */
    struct client_opts opts;
    struct client_plan plan;
    /* Internal. */
    struct client_outputs outputs;
    struct control_socket control;
    struct control_token token;
    struct client_servers servers;
    struct watch_thread watch;
    struct server_cost cost;
    struct client_page page;
    bool was_stopped; /* by a signal, before the run had ended */
    bool was_refused; /* the outputs could not begin, after a line on stderr */
};

#define CLIENT_SESSION_INIT                                                                        \
    {                                                                                              \
        .outputs = CLIENT_OUTPUTS_CLOSED, .control = {.fd = -1 }                                   \
    }

#endif
