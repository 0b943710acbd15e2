/* SPDX-License-Identifier: MIT
 * control_http: see net/control_http.h. */
#include "net/control_http.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text_stream.h"
#include "base/units.h"
#include "net/control_connections.h"
#include "net/worker.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { MAX_HEADER_BYTES = 8192, MAX_BODY_BYTES = 1024, TIMEOUT_S = 5 };
enum { MOST_DISCARDED = 16 }; /* reads */

#define REST_NS  (20 * UNITS_NS_PER_MS)
#define FLUSH_NS (200 * UNITS_NS_PER_MS)

struct control_http {
    struct event_base *base;
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *pause_over, *accepted;
    struct bufferevent *newest; /* just accepted; NULL: it is in `connections` */
    struct control_connections connections;
    const char *token; /* NULL: none */
    bool is_unix;
    unsigned known;
    control_http_handler *handle;
    void *context;
    unsigned n_responding;         /* connections with a response not yet written */
    struct control_socket *socket; /* NULL: not taken over yet */
};

/* The program's: libevent has one argument for both callbacks of a listener, and it is evhttp's. */
static struct control_http *only;

/* --- responses --- */

/* libevent would send the body of a response to HEAD, too. */
static bool may_have_body(struct evhttp_request *request)
{
    return evhttp_request_get_command(request) != EVHTTP_REQ_HEAD;
}

/* With bytes left to read, close(2) resets the connection, and what is not sent yet is lost. */
static void discard_input(evutil_socket_t fd)
{
    char bytes[4096];

    for (int i = 0; i < MOST_DISCARDED && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++)
        ;
}

/* The response was written, or the peer is gone. */
static void on_response_done(struct evhttp_connection *to, void *arg)
{
    struct control_http *h = arg;

    discard_input(bufferevent_getfd(evhttp_connection_get_bufferevent(to)));
    h->n_responding--;
}

static void send_answer(struct control_http *h, struct evhttp_request *request,
                        enum control_status status, const char *type, const char *text, size_t n)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    struct evhttp_connection *to = evhttp_request_get_connection(request);
    struct evbuffer *body = evbuffer_new();

    /* to a client of HTTP/1.0 that requests keep-alive, libevent would promise it */
    evhttp_remove_header(evhttp_request_get_input_headers(request), "Connection");
    request->flags &= ~EVHTTP_PROXY_REQUEST; /* libevent would remove "Connection" */
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(headers, "Connection", "close");
    if (status == CONTROL_NO_TOKEN)
        evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
    if (status == CONTROL_NOT_ALLOWED)
        evhttp_add_header(headers, "Allow",
                          control_request_method(evhttp_request_get_uri(request)));
    if (body != NULL && may_have_body(request))
        evbuffer_add(body, text, n);
    if (evhttp_request_get_command(request) == EVHTTP_REQ_CONNECT)
        request->type = EVHTTP_REQ_POST; /* libevent would keep the connection open as a tunnel */
    h->n_responding++;
    evhttp_connection_set_closecb(to, on_response_done, h);
    evhttp_send_reply(request, (int)status, NULL, body);
    /* libevent would drop the rest when the peer closes its half, or sends nothing for TIMEOUT_S;
     * writing tells, too, that it is gone */
    bufferevent_disable(evhttp_connection_get_bufferevent(to), EV_READ);
    if (body != NULL)
        evbuffer_free(body);
}

static void print_error(FILE *out, const char *error)
{
    struct json j;

    json_init(&j, out);
    json_object_begin(&j, NULL);
    json_string(&j, "error", error);
    json_object_end(&j);
}

/* --- requests --- */

static const char *method_of(struct evhttp_request *request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_POST:
        return "POST";
    default:
        return "another";
    }
}

/* Returns the host of the target, if that is absolute (RFC 9112, 3.2.2), else that of the header.
 */
static const char *host_of(const struct evhttp_request *request, const struct evkeyvalq *headers)
{
    const struct evhttp_uri *target = evhttp_request_get_evhttp_uri(request);

    return evhttp_uri_get_scheme(target) != NULL ? evhttp_uri_get_host(target)
                                                 : evhttp_find_header(headers, "Host");
}

static enum control_status serve(struct control_http *h, struct evhttp_request *request,
                                 struct control_reply *reply)
{
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const struct control_sender from = {
        .origin = evhttp_find_header(headers, "Origin"),
        .host = host_of(request, headers),
        .authorization = evhttp_find_header(headers, "Authorization"),
    };
    struct control_request q;
    enum control_status status;

    reply->accept = evhttp_find_header(headers, "Accept");
    status = control_request_check(&from, h->token, h->is_unix, reply->error);
    if (status == CONTROL_OK)
        status = control_request_parse(&q, method_of(request), evhttp_request_get_uri(request),
                                       h->known, reply->error);
    if (status == CONTROL_OK && q.command == CONTROL_PATHS)
        control_request_list(reply->out, h->known);
    else if (status == CONTROL_OK)
        status = h->handle(h->context, &q, reply);
    return status;
}

static const void *id_of(struct bufferevent *stream)
{
    return bufferevent_get_input(stream);
}

static void on_received(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
    struct control_http *h = arg;

    if (info->n_added > 0)
        control_connections_received(&h->connections, input, clock_now_ns());
}

static void on_request(struct evhttp_request *request, void *arg)
{
    struct control_http *h = arg;
    struct evhttp_connection *from = evhttp_request_get_connection(request);
    struct text_stream t;
    struct control_reply reply = {.content_type = "application/json"};
    enum control_status status = CONTROL_NO_MEMORY;
    size_t n_bytes;
    char *text;

    control_connections_answers(&h->connections, id_of(evhttp_connection_get_bufferevent(from)));
    if (text_stream_open(&t) == 0) {
        reply.out = t.out;
        status = serve(h, request, &reply);
        if (status != CONTROL_OK)
            print_error(reply.out, reply.error);
    }
    text = text_stream_close(&t, &n_bytes);
    if (text != NULL)
        send_answer(h, request, status, reply.content_type, text, n_bytes);
    else
        evhttp_send_error(request, CONTROL_NO_MEMORY, NULL);
    free(text);
}

/* --- start and end --- */

/* Pending connections stay in the accept queue. */
static void pause_accepting(struct control_http *h)
{
    const struct timeval wait = clock_timeval(REST_NS);

    evconnlistener_disable(h->listener);
    if (event_add(h->pause_over, &wait) != 0)
        evconnlistener_enable(h->listener);
}

static void accept_next(struct control_http *h)
{
    if (control_connections_make_room(&h->connections, clock_now_ns()))
        evconnlistener_enable(h->listener);
    else
        pause_accepting(h);
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    accept_next(arg);
}

/* Out of descriptors. */
static void on_accept_failed(struct evconnlistener *listener, void *arg)
{
    (void)listener;
    (void)arg;
    pause_accepting(only);
}

/* The connection has its descriptor, or has failed. */
static void on_accepted(evutil_socket_t none, short what, void *arg)
{
    struct control_http *h = arg;
    const evutil_socket_t fd = bufferevent_getfd(h->newest);

    (void)none;
    (void)what;
    if (fd >= 0)
        control_connections_add(&h->connections, id_of(h->newest), fd, clock_now_ns());
    bufferevent_decref(h->newest);
    h->newest = NULL;
    accept_next(h);
}

/* Called for a connection just accepted, the last one until on_accepted().  libevent's default is
 * to close the descriptor before removing it from the epoll set, when it may already belong to
 * another thread. */
static struct bufferevent *open_stream(struct event_base *base, void *arg)
{
    struct control_http *h = arg;

    h->newest = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (h->newest == NULL)
        return NULL;
    (void)evbuffer_add_cb(bufferevent_get_input(h->newest), on_received, h);
    bufferevent_incref(h->newest);
    evconnlistener_disable(h->listener);
    event_active(h->accepted, 0, 0);
    return h->newest;
}

/* The HTTP server frees the listener, which closes the socket. */
static int listen_on(struct control_http *h, struct control_socket *socket)
{
    h->listener = evconnlistener_new(h->base, NULL, h,
                                     LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, socket->fd);
    if (h->listener == NULL)
        return -1;
    socket->fd = -1;
    if (evhttp_bind_listener(h->http, h->listener) != NULL)
        return 0;
    evconnlistener_free(h->listener);
    return -1;
}

static int open_server(struct control_http *h, struct control_socket *socket)
{
    h->http = evhttp_new(h->base);
    h->pause_over = evtimer_new(h->base, on_pause_over, h);
    h->accepted = event_new(h->base, -1, 0, on_accepted, h);
    return h->http != NULL && h->pause_over != NULL && h->accepted != NULL ? listen_on(h, socket)
                                                                           : -1;
}

struct control_http *control_http_start(struct event_base *base, struct control_socket *socket,
                                        const struct control_token *token, unsigned known,
                                        control_http_handler *handle, void *context)
{
    struct control_http *h = calloc(1, sizeof *h);
    struct rlimit nofile = {.rlim_cur = 0};

    assert(only == NULL);
    if (h == NULL)
        return NULL;
    only = h;
    getrlimit(RLIMIT_NOFILE, &nofile);
    *h = (struct control_http){
        .base = base,
        .token = token->text[0] != '\0' ? token->text : NULL,
        .is_unix = socket->path[0] != '\0',
        .known = known | CONTROL_BIT(CONTROL_PATHS),
        .handle = handle,
        .context = context,
    };
    control_connections_init(&h->connections, nofile.rlim_cur);
    if (open_server(h, socket) != 0) {
        control_http_end(h);
        return NULL;
    }
    h->socket = socket;
    evconnlistener_set_error_cb(h->listener, on_accept_failed);
    evhttp_set_max_headers_size(h->http, MAX_HEADER_BYTES);
    evhttp_set_max_body_size(h->http, MAX_BODY_BYTES);
    evhttp_set_timeout(h->http, TIMEOUT_S);
    /* all methods, so that a wrong one gets a response */
    evhttp_set_allowed_methods(h->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
                                            EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
                                            EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                                            EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
    evhttp_set_bevcb(h->http, open_stream, h);
    evhttp_set_gencb(h->http, on_request, h);
    return h;
}

static void on_flush_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* Sleeps until the responses are written, for at most FLUSH_NS. */
static void flush(struct control_http *h)
{
    const struct timeval most = clock_timeval(FLUSH_NS);
    struct event over;

    evtimer_assign(&over, h->base, on_flush_over, NULL);
    if (event_add(&over, &most) != 0)
        return;
    while (h->n_responding > 0 && evtimer_pending(&over, NULL))
        worker_run_loop(h->base, EVLOOP_ONCE);
    event_del(&over);
}

void control_http_end(struct control_http *h)
{
    if (h == NULL)
        return;
    /* while it listens: afterwards the path may be that of another program */
    if (h->socket != NULL)
        control_socket_close(h->socket);
    flush(h);
    if (h->pause_over != NULL)
        event_free(h->pause_over);
    if (h->accepted != NULL)
        event_free(h->accepted);
    if (h->newest != NULL)
        bufferevent_decref(h->newest);
    if (h->http != NULL)
        evhttp_free(h->http);
    only = NULL;
    free(h);
}
