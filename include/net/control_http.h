/* SPDX-License-Identifier: MIT
 * control_http: the control port's HTTP server, in the main thread's event loop.
 *
 * Checks who may send requests (net/control_request.h), limits requests to a small size, a short
 * time and one per connection, limits connections (net/control_connections.h), and passes valid
 * requests on.  A response is sent for as long as its peer reads, even if it has closed its half.
 * Pauses accepting if descriptors run out. */
#ifndef TCPSCALER_NET_CONTROL_HTTP_H
#define TCPSCALER_NET_CONTROL_HTTP_H

#include "net/control_request.h"
#include "net/control_socket.h"

#include <stdio.h>

struct event_base;
struct control_http;

/* The program's response to a request. */
struct control_reply {
    FILE *out; /* the body; JSON, unless content_type says otherwise */
    const char *content_type;
    const char *accept;                      /* the request's Accept field; NULL: none */
    char error[CONTROL_REQUEST_ERROR_BYTES]; /* error text, unless CONTROL_OK */
};

typedef enum control_status control_http_handler(void *context, const struct control_request *q,
                                                 struct control_reply *reply);

/* Serves the commands of `known`, and the list of them, on a listening socket, which it takes over
 * and closes at the end; the structure must last until then.  The token is borrowed.  One at a
 * time.  Returns NULL on failure, when the socket is the caller's to close; errno may not say why.
 */
struct control_http *control_http_start(struct event_base *base, struct control_socket *socket,
                                        const struct control_token *token, unsigned known,
                                        control_http_handler *handle, void *context);

/* Removes the path of a unix socket, waits up to 200 ms for pending responses, then closes.  NULL:
 * no-op. */
void control_http_end(struct control_http *h);

#endif
