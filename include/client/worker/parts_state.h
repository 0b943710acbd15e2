/* SPDX-License-Identifier: MIT
 * client_parts_state: all parts of a worker, shared by the parts that create and run them
 * (client/worker/parts.h) and that hand them what happens to connections
 * (client/worker/parts_callbacks.h).  Worker thread. */
#ifndef TCPSCALER_CLIENT_WORKER_PARTS_STATE_H
#define TCPSCALER_CLIENT_WORKER_PARTS_STATE_H

#include "client/worker/answer.h"
#include "client/worker/conn_per_query.h"
#include "client/worker/connect.h"
#include "client/worker/demand.h"
#include "client/worker/dispatch.h"
#include "client/worker/due.h"
#include "client/worker/idle.h"
#include "client/worker/load.h"
#include "client/worker/parts_params.h"
#include "client/worker/pool.h"
#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/sizes.h"
#include "client/worker/slots.h"
#include "client/worker/span.h"
#include "client/worker/subscribe.h"
#include "client/worker/transport.h"
#include "client/worker/turnover.h"
#include "client/worker/usable.h"

struct client_parts {
    struct client_parts_params params;
    struct client_span span;
    struct client_transport transport;
    struct client_pool pool;
    struct client_slots slots;
    struct client_usable usable;
    struct client_due due;
    struct client_queries queries;
    struct client_send send;
    struct client_sizes sizes;
    struct client_answers answers;
    struct client_connect connect;
    struct client_turnover turnover;
    struct client_idle idle;
    struct client_demand demand;
    struct client_subscribe subscribe;
    struct client_conn_per_query conn_per_query;
    struct client_dispatch dispatch;
    struct client_load load;
};

#endif
