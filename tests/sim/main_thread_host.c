/* SPDX-License-Identifier: MIT
 * main_thread_host: what tcpclient's main thread would learn from the host: not simulated, and the
 * same in every run. The linker replaces its functions with these (--wrap). */
#include "client/control.h"
#include "client/run_result.h"
#include "host/counters.h"
#include "host/limits.h"
#include "host/sockdiag.h"
#include "host/watch/port_sockets.h"
#include "violation.h"
#include "world.h"

#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>

struct event_base *__real_event_base_new(void);
struct event_base *__wrap_event_base_new(void);
void __real_host_counters_read(struct host_counters *s);
void __wrap_host_counters_read(struct host_counters *s);
void __wrap_host_counters_watch_memory(struct host_counters *earlier);
void __real_host_limits_read(struct host_limits *host);
void __wrap_host_limits_read(struct host_limits *host);
int __wrap_sockdiag_count(const struct sock_address *peer, struct sockdiag_states *states);
int __wrap_port_listeners_read(struct port_listeners *l, uint16_t port);
int __wrap_shutdown_catch(void);
int __wrap_shutdown_fd(void);
int __wrap_client_control_start(struct client_control *c, struct event_base *base,
                                struct control_socket *socket, const struct control_token *token);
void __wrap_client_control_end(struct client_control *c);
void __wrap_client_run_try_server(struct client_run_state *r);
int __wrap_log_error(const char *format, ...);

/* Called only by the whole program. */
int __wrap_log_error(const char *format, ...)
{
    va_list arguments;

    if (world.active && !world.prints_messages)
        return -1;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return -1;
}

/* Called by the main thread, which would go on without epoll(7): no faults. */
struct event_base *__wrap_event_base_new(void)
{
    struct scenario *s = &world.scenario;
    const uint64_t start_permille = s->start_permille, fd_limit = s->fd_limit;
    struct event_base *base;

    if (!world.active)
        return __real_event_base_new();
    s->start_permille = s->fd_limit = 0;
    base = __real_event_base_new();
    s->start_permille = start_permille;
    s->fd_limit = fd_limit;
    LAW(base != NULL, "no loop for the main thread");
    return base;
}

void __wrap_host_counters_read(struct host_counters *s)
{
    *s = (struct host_counters){0};
    if (!world.active)
        __real_host_counters_read(s);
}

void __wrap_host_counters_watch_memory(struct host_counters *earlier)
{
    (void)earlier;
}

void __wrap_host_limits_read(struct host_limits *host)
{
    *host = (struct host_limits){0};
    if (!world.active)
        __real_host_limits_read(host);
}

int __wrap_sockdiag_count(const struct sock_address *peer, struct sockdiag_states *states)
{
    (void)peer;
    *states = (struct sockdiag_states){0};
    return -1;
}

int __wrap_port_listeners_read(struct port_listeners *l, uint16_t port)
{
    (void)port;
    *l = (struct port_listeners){0};
    return -1;
}

int __wrap_shutdown_catch(void)
{
    return 0;
}

/* Nothing is written to it. */
int __wrap_shutdown_fd(void)
{
    return -1;
}

int __wrap_client_control_start(struct client_control *c, struct event_base *base,
                                struct control_socket *socket, const struct control_token *token)
{
    (void)c, (void)base, (void)socket, (void)token;
    return 0;
}

void __wrap_client_control_end(struct client_control *c)
{
    (void)c;
}

/* Called by a connection that would wait. */
void __wrap_client_run_try_server(struct client_run_state *r)
{
    (void)r;
}
